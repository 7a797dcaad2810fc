/**
 * A real Temporal server, a real worker with the real activities, and models and tools that follow a script: what
 * workflow tests and the recorder of histories play on.
 */
import { WorkflowFailedError, type Client, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { createActivities } from '../../src/activities/create-activities.ts';
import type { HttpToolPort, ModelPort } from '../../src/activities/ports.ts';
import type { FailureType } from '../../src/api/failures.ts';
import type { RunEvent } from '../../src/api/run-event.ts';
import type { RunInput, RunOutcome } from '../../src/api/run.ts';
import type {
  AgentPlan,
  Definition,
  MemberPlan,
  ModelDefinition,
  Snapshot,
  TargetPlan,
  TeamPlan,
} from '../../src/api/snapshot.ts';
import type { Message } from '../../src/api/transcript.ts';

import { createWorker } from '../../src/worker/create-worker.ts';
import { eventSinks } from '../../src/worker/run-events.ts';
import { startTemporal } from '../temporal.ts';
import { companionPorts, companionsIn, engineAgent, type Companions } from './companions.ts';

/** What a speaker does when asked: says something, uses tools, fails, or never answers. */
export type Line =
  | string
  | { readonly tools: readonly string[]; readonly saying?: string }
  | { readonly fails: FailureType }
  | { readonly hangs: true };

/** Lines by speaker (an agent, a model, a tool, or `select <team>`); the last one is said again and again. */
export type Script = Readonly<Record<string, readonly Line[]>>;

export interface Cast extends Companions {
  readonly targets: readonly TargetPlan[];
  readonly teams?: readonly TeamPlan[];
  readonly timeoutMs?: number;
  readonly toolRounds?: number;
  /** What the plan tells of agents, beside how they are played here. */
  readonly plans?: Readonly<Record<string, Partial<AgentPlan>>>;
}

export interface Play {
  readonly handle: WorkflowHandle;
  /** Who was asked, in order; every attempt counts. */
  readonly asked: readonly string[];
  /** What a speaker heard when it was last asked: `role: content`, without the system prompt. */
  heard(speaker: string): readonly string[];
  /** The system prompt of a speaker when it was last asked: for `select <team>`, the conversation as it is shown. */
  prompted(speaker: string): string;
  /** What the run has told people, in order. */
  readonly told: readonly RunEvent[];
  /** Resolves once this speaker has been asked `times` times. */
  whenAsked(speaker: string, times?: number): Promise<void>;
  /** How the run ended, read the way the controller reads it. */
  ended(): Promise<{ readonly status: string; readonly outcome: RunOutcome; readonly failure?: string }>;
}

export interface Theatre {
  readonly client: Client;
  play(cast: Cast, script?: Script): Promise<Play>;
  close(): Promise<void>;
}

export async function openTheatre(...temporalSettings: string[]): Promise<Theatre> {
  const temporal = await startTemporal(temporalSettings);
  Runtime.install({ logger: quiet });
  const connection = await NativeConnection.connect({ address: temporal.address });
  const stages = new Map<string, Rehearsal>();
  const worker = await createWorker(connection, createActivities(scriptedPorts(stages)), {
    namespace: 'default',
    taskQueue: 'theatre',
    sinks: eventSinks((event) => void stages.get(event.query.uid)?.told.push(event)),
  });
  const working = worker.run();
  let plays = 0;

  return {
    client: temporal.client,
    async play(cast, script = {}) {
      const uid = `play${++plays}`;
      const rehearsal = new Rehearsal(script);
      stages.set(uid, rehearsal);
      const handle = await temporal.client.workflow.start('queryWorkflow', {
        args: [inputOf(cast, uid)],
        workflowId: `query:default:${uid}`,
        taskQueue: 'theatre',
        workflowExecutionTimeout: '10m',
      });
      return {
        handle,
        asked: rehearsal.asked,
        told: rehearsal.told,
        heard: (speaker) => rehearsal.heard(speaker),
        prompted: (speaker) => rehearsal.prompted(speaker),
        whenAsked: (speaker, times = 1) => rehearsal.whenAsked(speaker, times),
        ended: () => endOf(temporal.client, handle.workflowId),
      };
    },
    async close() {
      worker.shutdown();
      await working;
      await connection.close();
      await temporal.stop();
    },
  };
}

const notPlayed = () => Promise.reject(new Error('nobody plays this here'));

/** One play: whose turn it is in the script, and what was asked. */
class Rehearsal {
  readonly asked: string[] = [];
  readonly told: RunEvent[] = [];
  private readonly messages = new Map<string, readonly Message[]>();
  private readonly waiting = new Set<() => void>();
  private readonly script: Script;

  constructor(script: Script) {
    this.script = script;
  }

  ask(speaker: string, messages: readonly Message[]): Line {
    const times = this.times(speaker);
    this.asked.push(speaker);
    this.messages.set(speaker, messages);
    for (const check of this.waiting) check();
    const lines = this.script[speaker];
    return lines?.[times] ?? lines?.at(-1) ?? `${speaker} ${times + 1}`;
  }

  heard(speaker: string): readonly string[] {
    return (this.messages.get(speaker) ?? [])
      .filter(({ role }) => role !== 'system')
      .map(({ role, content }) => `${role}: ${content}`);
  }

  prompted(speaker: string): string {
    return this.messages.get(speaker)?.find(({ role }) => role === 'system')?.content ?? '';
  }

  whenAsked(speaker: string, times: number): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.times(speaker) < times) return;
        this.waiting.delete(check);
        resolve();
      };
      this.waiting.add(check);
      check();
    });
  }

  private times(speaker: string): number {
    return this.asked.filter((name) => name === speaker).length;
  }
}

/** A model or tool is called `<play>/<speaker>`, so that plays do not hear each other. */
function scriptedPorts(stages: ReadonlyMap<string, Rehearsal>) {
  const cue = async (name: string, messages: readonly Message[], signal: AbortSignal): Promise<Line> => {
    const [play = '', speaker = ''] = name.split('/');
    const line = stages.get(play)?.ask(speaker, messages) ?? '';
    if (typeof line === 'object' && 'hangs' in line) {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    }
    if (typeof line === 'object' && 'fails' in line) {
      throw Object.assign(new Error(`${speaker} failed on purpose`), { type: line.fails });
    }
    return line;
  };

  const models: ModelPort = {
    async complete({ endpoint, messages }, { signal }) {
      const line = await cue(endpoint.name, messages, signal);
      const toolCalls =
        typeof line === 'object' && 'tools' in line
          ? line.tools.map((name, index) => ({
              id: `call-${index}`,
              name,
              arguments: JSON.stringify({ response: line.saying ?? 'over and out' }),
            }))
          : undefined;
      const content = typeof line === 'string' ? line : '';
      return {
        message: { role: 'assistant', content, ...(toolCalls && { toolCalls }) },
        usage: { promptTokens: 10, completionTokens: 5, totalTokens: 15 },
      };
    },
  };
  const httpTools: HttpToolPort = {
    async call(tool, _args, { signal }) {
      const line = await cue(tool.url, [], signal);
      return { content: typeof line === 'string' ? line : '' };
    },
  };
  return {
    models,
    httpTools,
    builtIns: {
      run: (builtIn: string) =>
        builtIn === 'terminate' ? { content: 'over and out', ends: true } : { content: 'map[]' },
    },
    mcp: { call: notPlayed },
    filters: { apply: notPlayed },
    a2a: { send: notPlayed },
    ...companionPorts(cue),
    templates: {
      render: () => '',
      renderSelector: (_prompt: string, { History }: { History: string }) => History,
    },
    secrets: { read: () => Promise.reject(new Error('no play has a secret')) },
  };
}

/** Every agent of the cast has a model of its own and the tools `search`, `lookup`, `noop` and `terminate`. */
function inputOf(cast: Cast, uid: string): RunInput {
  const {
    targets,
    teams = [],
    timeoutMs = 300_000,
    toolRounds = 10,
    engines,
    shaped,
    forgiven,
    plans,
  } = cast;
  const access = { namespace: 'default', serviceAccount: 'default' };
  const model = (speaker: string): ModelDefinition => ({
    namespace: 'default',
    name: `${uid}/${speaker}`,
    type: 'openai',
    model: { value: 'gpt' },
    baseUrl: { value: 'http://127.0.0.1' },
    apiKey: { value: 'none' },
    properties: {},
  });
  const face = { description: '', parameters: { type: 'object' } };
  const http = (name: string) =>
    ({
      ...face,
      name,
      type: 'http',
      url: `${uid}/${name}`,
      method: 'GET',
      headers: [],
      timeoutMs: 60_000,
      bodyParameters: {},
      repeatable: true,
    }) as const;
  const tools = [
    http('search'),
    http('lookup'),
    { ...face, name: 'noop', type: 'built-in', builtIn: 'noop' } as const,
    { ...face, name: 'terminate', type: 'built-in', builtIn: 'terminate' } as const,
  ];

  const members: MemberPlan[] = teams.flatMap((team) => [...team.members]);
  const agents = [...targets, ...members].filter(({ type }) => type === 'agent').map(({ name }) => name);
  // Hashes differ between plays, as they would between different definitions.
  const hash = (what: string): string => `${uid}-${what}`;
  const companions = companionsIn(cast, { uid, access, hash });
  const definitions: Record<string, Definition> = {
    ...companions.definitions,
    [hash('question')]: { kind: 'question', question: { text: 'what now?' }, access },
  };
  for (const name of agents) {
    const prompt = { text: `You are ${name}.` };
    if (engines?.includes(name)) {
      definitions[hash(name)] = engineAgent(name, model(name), { uid, access, hash });
      continue;
    }
    definitions[hash(name)] = {
      kind: 'agent',
      namespace: 'default',
      name,
      prompt,
      model: model(name),
      tools,
      ...(shaped?.includes(name) && { outputSchema: { type: 'object' } }),
      access,
    };
  }
  for (const { type, name } of targets) {
    if (type === 'model') definitions[hash(name)] = { kind: 'model', model: model(name), access };
    if (type === 'tool') definitions[hash(name)] = { kind: 'tool', tool: http(name), access };
  }
  for (const team of teams) {
    definitions[hash(`select ${team.name}`)] = {
      kind: 'selector',
      namespace: 'default',
      team: team.name,
      model: model(`select ${team.name}`),
      prompt: '{{.History}}',
      members: team.members,
      access,
    };
  }

  const snapshot: Snapshot = {
    query: { namespace: 'default', name: 'play', uid },
    question: hash('question'),
    targets: targets.map((target) => ({ ...target, definition: hash(target.name) })),
    agents: Object.fromEntries(
      agents.map((name) => [
        name,
        {
          type: 'agent',
          name,
          definition: hash(name),
          model: `model-of-${name}`,
          ...(engines?.includes(name) && { hasEngine: true }),
          ...(forgiven && { forgiven }),
          ...plans?.[name],
        },
      ]),
    ),
    teams: Object.fromEntries(
      teams.map((team) => [
        team.name,
        { ...team, ...('model' in team && { definition: hash(`select ${team.name}`) }) },
      ]),
    ),
    ...companions,
    definitions,
    timeoutMs,
  };
  return { snapshot, limits: { toolRounds, turns: 100, concurrency: 8 } };
}

/** What an activity of the newest run was given. */
export async function givenTo(client: Client, workflowId: string, activityId: string): Promise<unknown> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const call = events
    ?.map(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled)
    .find((scheduled) => scheduled?.activityId === activityId);
  return JSON.parse(Buffer.from(call?.input?.payloads?.[0]?.data ?? []).toString());
}

async function endOf(client: Client, workflowId: string) {
  const handle = client.workflow.getHandle(workflowId);
  try {
    return { status: 'COMPLETED', outcome: (await handle.result()) as RunOutcome };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { status, memo } = await handle.describe();
    if (error.cause instanceof CancelledFailure) {
      return { status: status.name, outcome: memo?.outcome as RunOutcome };
    }
    const cause = error.cause as ApplicationFailure;
    return {
      status: status.name,
      outcome: cause.details?.[0] as RunOutcome,
      failure: cause.type ?? undefined,
    };
  }
}

/** Failures that are retried are expected here; the SDK would report each. */
const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
