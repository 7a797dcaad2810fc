import type { WireMessage } from '../../src/dev/chat-wire.ts';
import { startJournaledServer, type JournaledServer } from '../../src/dev/journaled-server.ts';
import type { ScriptedAnswer } from '../../src/dev/scripted-model.ts';
import { ended, withSampleServices } from './sample-services.ts';
import { withStack } from './stack.ts';

const megabyte = 1_000_000;
const statusBytesMax = 256 * 1024;
/** Of two bytes a character, so that characters are not taken for bytes. */
const large = 'ä'.repeat(megabyte / 2);
const words = 'a question';

const cluster = withStack();
/** Says how many characters it heard from whom; a question for a long answer gets one. */
withSampleServices(cluster, {
  script: ({ body: { messages, tools = [] } }): ScriptedAnswer => {
    if (tools.length > 0 && messages.at(-1)?.role !== 'tool') return { toolCalls: [{ name: 'archive' }] };
    return { content: messages.at(-1)?.content === 'a long answer' ? large : heard(messages) };
  },
});
const heard = (messages: readonly WireMessage[]): string =>
  messages.map(({ role, content = '' }) => `${role} ${content.length}`).join(', ');

let server: JournaledServer;
beforeAll(async () => {
  server = await startJournaledServer(({ path }) => ({ body: answers[path] ?? '' }));
  await cluster.kubectl(
    // `apply` keeps a copy of each object in an annotation, where there is less room.
    ['create', '-f', '-'],
    [
      object('Agent', 'brief', { prompt: 'You are brief.' }),
      object('Agent', 'learned', { prompt: large }),
      object('Tool', 'archive', { type: 'http', http: { url: `${server.url}/archive` } }),
      object('Agent', 'archivist', { prompt: 'Read.', tools: [{ type: 'custom', name: 'archive' }] }),
      object('Agent', 'filtered', {
        prompt: 'Read.',
        tools: [{ type: 'custom', name: 'archive', functions: [{ name: 'jq', value: '. + "!"' }] }],
      }),
      object('ExecutionEngine', 'engine', { type: 'x', address: { value: server.url } }, 'v1prealpha1'),
      object('Agent', 'driven', { prompt: 'Go.', executionEngine: { name: 'engine' } }),
      object('Memory', 'broker', { address: { value: cluster.stack.brokerUrl } }),
      object('Team', 'two', {
        strategy: 'sequential',
        members: [
          { type: 'agent', name: 'brief' },
          { type: 'agent', name: 'archivist' },
        ],
      }),
      object('Evaluator', 'talkative', { address: { value: `${server.url}/evaluate` } }),
    ].join('\n'),
  );
});
afterAll(() => server?.close());

const answers: Readonly<Record<string, string>> = {
  '/archive': JSON.stringify(large),
  '/evaluate': JSON.stringify({ score: '90', passed: true, metadata: { reasoning: large } }),
  '/execute': JSON.stringify({ messages: [{ role: 'assistant', content: large }] }),
};

const object = (kind: string, name: string, spec: object, version = 'v1alpha1'): string =>
  JSON.stringify({ apiVersion: `ark.mckinsey.com/${version}`, kind, metadata: { name }, spec });

const half = megabyte / 2;
const cutAnswer: unknown = expect.stringMatching(/^"?ä{50000,}\n?… \[cut/);

interface Asked {
  readonly input: string;
  readonly target: string;
  readonly stream?: boolean;
  readonly [field: string]: unknown;
}

test.each<[string, Asked, unknown]>([
  ['an answer of 1 MB', { input: 'a long answer', target: 'agent/brief' }, cutAnswer],
  ['an input of 1 MB', { input: large, target: 'agent/brief' }, `system 14, user ${half}`],
  ['a prompt of 1 MB', { input: words, target: 'agent/learned' }, `system ${half}, user 10`],
  [
    'the 1 MB of a tool',
    { input: words, target: 'agent/archivist' },
    `system 5, user 10, assistant 0, tool ${half + 2}`,
  ],
  ['the 1 MB of a tool that is asked itself', { input: '{}', target: 'tool/archive' }, cutAnswer],
  ['a streamed answer of 1 MB', { input: 'a long answer', target: 'model/default', stream: true }, cutAnswer],
  [
    'a filtered result of 1 MB',
    { input: words, target: 'agent/filtered' },
    `system 5, user 10, assistant 0, tool ${half + 3}`,
  ],
  ['the 1 MB of an engine', { input: words, target: 'agent/driven' }, cutAnswer],
  [
    'an evaluator that says 1 MB',
    { input: words, target: 'agent/brief', evaluators: [{ name: 'talkative' }] },
    'system 14, user 10',
  ],
  [
    'an input of 1 MB with evaluators',
    { input: large, target: 'agent/brief', evaluators: [{ name: 'talkative' }] },
    `system 14, user ${half}`,
  ],
  [
    'an answer of 1 MB to be remembered',
    { input: 'a long answer', target: 'agent/brief', sessionId: 'long', memory: { name: 'broker' } },
    cutAnswer,
  ],
  [
    'a conversation with an answer of 1 MB',
    { input: words, target: 'agent/brief', sessionId: 'long', memory: { name: 'broker' } },
    expect.stringMatching(/^system 14, (user 13, assistant \d+, )?user 10$/),
  ],
])('%s passes, and status stays small', async (what, { input, target, stream = false, ...spec }, content) => {
  const [type = '', name = ''] = target.split('/');
  const query = what.replaceAll(' ', '-').toLowerCase();
  const manifest = {
    apiVersion: 'ark.mckinsey.com/v1alpha1',
    kind: 'Query',
    metadata: {
      name: query,
      ...(stream && { annotations: { 'ark.mckinsey.com/streaming-enabled': 'true' } }),
    },
    spec: { input, targets: [{ type, name }], ...spec },
  };
  await cluster.kubectl(['create', '-f', '-'], JSON.stringify(manifest));
  const status = await ended(cluster, query);

  expect({ phase: status.phase, error: status.error }).toEqual({ phase: 'done' });
  expect(status.responses?.[0]?.content).toEqual(content);
  expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThan(statusBytesMax);
});

test('who speaks after a long answer hears all of it', async () => {
  const spec = { input: 'a long answer', targets: [{ type: 'team', name: 'two' }] };
  await cluster.kubectl(['create', '-f', '-'], object('Query', 'team', spec));
  expect(await ended(cluster, 'team')).toMatchObject({
    phase: 'done',
    responses: [{ content: `system 5, assistant ${half}, user 13, assistant 0, tool ${half + 2}` }],
  });
});

test('what an Evaluation is told is cut, and the Evaluation done', async () => {
  const evaluation = {
    evaluator: { name: 'talkative' },
    config: { input: words, output: large },
  };
  await cluster.kubectl(['create', '-f', '-'], object('Evaluation', 'long', evaluation));
  const done = '--for=jsonpath={.status.phase}=done';
  await cluster.kubectl(['wait', done, 'evaluation/long', '--timeout=120s']);
});
