/** What stands beside the models and tools of a play: a memory, engines, evaluators, a stream, shapes of answers. */
import type {
  EnginePort,
  EvaluatorPort,
  MemoryPort,
  OutputPort,
  StreamPort,
} from '../../src/activities/ports.ts';
import type { Access, Definition, ModelDefinition, Snapshot } from '../../src/api/snapshot.ts';
import type { Message } from '../../src/api/transcript.ts';
import type { Line } from './theatre.ts';

export interface Companions {
  /**
   * The conversation is remembered: a line of `memory.read` is what a user said before, and `memory.write.1` hears what
   * is to be remembered of the first target.
   */
  readonly isRemembered?: true;
  /** `stream of ann` is told for whom she speaks; `stream.end`, that no more will come. */
  readonly isStreamed?: true;
  /** Agents that engines answer for, who speak under the agents' names; each row of a line is a message. */
  readonly engines?: readonly string[];
  /** Agents whose answers have the wrong shape where they begin with `bad`. */
  readonly shaped?: readonly string[];
  /** Tools whose errors the agents are told. */
  readonly forgiven?: readonly string[];
  /** Each line is a score; passed unless that is 0. */
  readonly evaluators?: readonly string[];
}

/** Asks a speaker, by `<play>/<speaker>`, for its line. */
type Cue = (name: string, messages: readonly Message[], signal: AbortSignal) => Promise<Line>;

interface CompanionPorts {
  readonly engines: EnginePort;
  readonly evaluators: EvaluatorPort;
  readonly memories: MemoryPort;
  readonly outputs: OutputPort;
  readonly streams: StreamPort;
}

export function companionPorts(cue: Cue): CompanionPorts {
  const text = (line: Line): string => (typeof line === 'string' ? line : '');
  return {
    engines: {
      async execute({ address }, { history, userInput }, { signal }) {
        const line = await cue(address, [...history, { role: 'user', content: userInput }], signal);
        const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };
        const rows = text(line).split('\n');
        return { messages: rows.map((content) => ({ role: 'assistant', content })), usage };
      },
    },
    evaluators: {
      async evaluate(address, request, { signal }) {
        const { responses } = request as { readonly responses: readonly { readonly content: string }[] };
        const answers = responses.map(({ content }) => ({ role: 'assistant', content }) as const);
        const score = text(await cue(address, answers, signal));
        return { score, passed: score !== '0', metadata: {} };
      },
    },
    memories: {
      async read({ address }, signal) {
        const before = text(await cue(`${address}/memory.read`, [], signal));
        return before === ''
          ? { messages: [], held: 0 }
          : { messages: [{ role: 'user', content: before }], held: 1 };
      },
      async append({ address }, messages, { signal, idempotencyKey }) {
        await cue(`${address}/${idempotencyKey.split(':').at(-1)}`, messages, signal);
      },
    },
    outputs: {
      problem: (_, answer) => Promise.resolve(answer.startsWith('bad') ? 'It is bad.' : undefined),
    },
    streams: {
      open({ address, about: { target, team, agent } }, signal) {
        const about = { role: 'user', content: `${target} ${team}` } as const;
        const told = cue(`${address}/stream of ${agent}`, [about], signal);
        return { write() {}, restart() {}, end: async () => void (await told) };
      },
      complete: async ({ address }, signal) => void (await cue(`${address}/stream.end`, [], signal)),
    },
  };
}

interface Stagehand {
  readonly uid: string;
  readonly access: Access;
  readonly hash: (what: string) => string;
}

/** An engine in place of the agent's model. */
export const engineAgent = (
  name: string,
  model: ModelDefinition,
  { uid, access }: Stagehand,
): Definition => ({
  kind: 'engine-agent',
  namespace: 'default',
  name,
  prompt: { text: `You are ${name}.` },
  engine: {
    type: 'engine',
    namespace: 'default',
    name: `engine-of-${name}`,
    address: { value: `${uid}/${name}` },
    protocol: 'execute',
    model,
    description: '',
    parameters: [],
  },
  tools: [],
  access,
});

/** What the companions add to a snapshot. */
export function companionsIn(
  { isRemembered, isStreamed, evaluators = [] }: Companions,
  { uid, access, hash }: Stagehand,
): Pick<Snapshot, 'definitions' | 'memory' | 'memoryName' | 'evaluation' | 'stream'> {
  const of = { namespace: 'default', access };
  const memory = { kind: 'memory', name: 'm', address: { value: uid }, session: uid, query: 'play' } as const;
  const query = { metadata: { namespace: 'default', name: 'play', uid }, spec: { input: 'what now?' } };
  const judges = evaluators.map((name) => ({ name, definition: hash(`judge ${name}`) }));
  return {
    definitions: {
      ...(isRemembered && { [hash('memory')]: { ...memory, ...of } }),
      ...(isStreamed && { [hash('stream')]: { kind: 'stream', address: uid, query: 'play', session: uid } }),
      ...(judges.length > 0 && {
        [hash('queried')]: { kind: 'queried', query: { apiVersion: 'v1', kind: 'Query', ...query } },
      }),
      ...Object.fromEntries(
        judges.map(({ name, definition }) => [
          definition,
          { kind: 'evaluator', name, address: { value: `${uid}/${name}` }, ...of },
        ]),
      ),
    },
    ...(isRemembered && { memory: hash('memory'), memoryName: 'm' }),
    ...(isStreamed && { stream: hash('stream') }),
    ...(judges.length > 0 && { evaluation: { queried: hash('queried'), evaluators: judges } }),
  };
}
