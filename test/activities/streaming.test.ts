import { createActivities } from '../../src/activities/create-activities.ts';
import type { ModelCall } from '../../src/api/run.ts';
import type { OpenAiModelDefinition } from '../../src/api/snapshot.ts';
import {
  startJournaledServer,
  type JournaledReply,
  type JournaledServer,
} from '../../src/dev/journaled-server.ts';
import { runBrokerInTest, type RunningBroker } from '../broker/running-broker.ts';
import { FakeRuns, fakeRun, inActivity, type Attempt } from '../fakes/activity.ts';
import { access, portsWith } from '../fakes/ports.ts';

const piece = (content: string, finish_reason: string | null = null) => ({
  id: 'x',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content }, finish_reason }],
});
const pieces = [piece('Hel'), piece('lo'), piece('', 'stop')];
const events = (chunks: readonly object[]) =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
const streamed = (body: string): JournaledReply => ({
  headers: { 'content-type': 'text/event-stream' },
  body,
});

let answer: JournaledReply;
let model: JournaledServer;
let broker: RunningBroker;
beforeAll(async () => {
  [model, broker] = await Promise.all([startJournaledServer(() => answer), runBrokerInTest()]);
});
beforeEach(() => {
  answer = streamed(`${events(pieces)}data: [DONE]\n\n`);
});
afterAll(() => Promise.all([model.close(), broker.close()]));

let queries = 0;

/** A run of a Query of its own, whose answers are streamed to `address`. */
function world(address = broker.url) {
  const query = `query ${++queries}`;
  const run = fakeRun(`run-${queries}`);
  const main: OpenAiModelDefinition = {
    namespace: 'default',
    name: 'main',
    type: 'openai',
    model: { value: 'm1' },
    baseUrl: { value: `${model.url}/v1` },
    apiKey: { secret: { namespace: 'default', name: 'keys', key: 'main' } },
    properties: {},
  };
  run.definitions['stream'] = { kind: 'stream', address, query, session: 's1' };
  run.definitions['model'] = { kind: 'model', model: main, access };
  run.definitions['agent'] = {
    kind: 'agent',
    namespace: 'default',
    name: 'bot',
    prompt: { text: '' },
    model: main,
    tools: [],
    access,
  };
  run.definitions['engine-agent'] = {
    kind: 'engine-agent',
    namespace: 'default',
    name: 'smith',
    prompt: { text: '' },
    engine: {
      type: 'engine',
      namespace: 'default',
      name: 'forge',
      address: { value: model.url },
      protocol: 'execute',
      model: main,
      description: '',
      parameters: [],
    },
    tools: [],
    access,
  };
  const runs = new FakeRuns(run);
  const activities = createActivities(portsWith({ 'default/keys/main': 'canary-key' }));
  const attempted = { run: run.ref, runs, activityId: 't001.bot.model.1' };
  const stream = { definition: 'stream', target: 'team/trip', team: 'trip' };
  const question = { hash: 'q', text: 'Hi' };
  return {
    query,
    call: `${run.ref.runId}:t001.bot.model.1`,
    ask: (input: Partial<ModelCall> = {}, attempt: Partial<Attempt> = {}) =>
      inActivity({ ...attempted, ...attempt }, () =>
        activities.callModel({
          definition: 'agent',
          question,
          slot: 0,
          stream,
          ...input,
        }),
      ),
    askEngine: () =>
      inActivity(attempted, () =>
        activities.callEngine({ definition: 'engine-agent', question, slot: 0, stream }),
      ),
    end: () =>
      inActivity({ ...attempted, activityId: 'stream.end' }, () =>
        activities.endStream({ definition: 'stream', target: 'team/trip' }),
      ),
  };
}

type Chunk = ReturnType<typeof piece> & { readonly ark: Readonly<Record<string, unknown>> };

/** What a reader finds who comes after the end. */
async function chunksOf(query: string): Promise<readonly Chunk[]> {
  const read = await fetch(`${broker.url}/stream/${encodeURIComponent(query)}?from-beginning=true`);
  const data = [...(await read.text()).matchAll(/^data: (.*)$/gm)].map(([, text]) => text ?? '');
  expect(data.pop()).toBe('[DONE]');
  return data.map((text) => JSON.parse(text) as Chunk);
}

test('an answer is read while it is written, and is the same answer', async () => {
  const { ask, end, query, call } = world();
  expect((await ask()).message).toEqual({ role: 'assistant', name: 'bot', content: 'Hello' });
  await end();

  const chunks = await chunksOf(query);
  const ark = { query, session: 's1', target: 'team/trip', team: 'trip', agent: 'bot', model: 'main', call };
  expect(chunks.slice(0, -1)).toEqual(pieces.map((chunk) => ({ ...chunk, ark })));
  expect(chunks.at(-1)?.ark).toMatchObject({ completedQuery: query, target: 'team/trip' });
});

test('a Model asked directly is no agent', async () => {
  const { ask, end, query } = world();
  await ask({ definition: 'model', stream: { definition: 'stream', target: 'model/main' } });
  await end();
  const [first] = await chunksOf(query);
  expect(first?.ark).toMatchObject({ target: 'model/main', model: 'main' });
  expect(first?.ark).not.toHaveProperty('agent');
  expect(first?.ark).not.toHaveProperty('team');
});

test('readers are told to drop what an earlier attempt has written', async () => {
  const { ask, end, query, call } = world();
  answer = streamed(events(pieces.slice(0, 1)));
  await expect(ask()).rejects.toMatchObject({ type: expect.stringMatching(/^Model/), nonRetryable: false });
  answer = streamed(`${events(pieces)}data: [DONE]\n\n`);
  await ask({}, { attempt: 2 });
  await end();

  const chunks = await chunksOf(query);
  const words = chunks.map(({ ark, choices }) =>
    'restart' in ark ? ark['restart'] : choices[0]?.delta.content,
  );
  expect(words.slice(0, -1)).toEqual(['Hel', { call }, 'Hel', 'lo', '']);
});

test('an answer that comes whole all the same is read in one piece', async () => {
  answer = { body: JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'whole' } }] }) };
  const { ask, end, query } = world();
  await ask();
  await end();
  const [first, ...rest] = await chunksOf(query);
  expect(first).toMatchObject({ ...piece('whole', 'stop'), id: expect.any(String), ark: { agent: 'bot' } });
  expect(rest).toHaveLength(1);
});

test('a wish for tools that comes whole has no words to read', async () => {
  const wish = { id: 'c1', type: 'function', function: { name: 'search', arguments: '{}' } };
  const message = { role: 'assistant', content: null, tool_calls: [wish] };
  answer = { body: JSON.stringify({ choices: [{ message }] }) };
  const { ask, end, query } = world();
  await ask();
  await end();
  expect(await chunksOf(query)).toMatchObject([{ ark: { completedQuery: query } }]);
});

test('what an engine answers is read message by message', async () => {
  const said = (content: string) => ({ role: 'assistant', content });
  answer = { body: JSON.stringify({ messages: [said('Hello'), said('there')] }) };
  const { askEngine, end, query, call } = world();
  await askEngine();
  await end();
  const chunks = await chunksOf(query);
  expect(chunks.slice(0, -1).map(({ choices }) => choices[0]?.delta.content)).toEqual(['Hello', 'there']);
  expect(chunks[0]?.ark).toMatchObject({ target: 'team/trip', team: 'trip', agent: 'smith', call });
});

test('a call that nobody reads along is not streamed', async () => {
  answer = { body: JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'whole' } }] }) };
  const { ask } = world();
  expect((await ask({ stream: undefined })).message.content).toBe('whole');
  expect(JSON.parse(model.requests.at(-1)?.body ?? '')).not.toHaveProperty('stream');
});

test('a broker that is not there is in nobody’s way', async () => {
  const gone = await startJournaledServer(() => ({}));
  await gone.close();
  const { ask, end } = world(gone.url);
  expect((await ask()).message.content).toBe('Hello');
  await end();
});
