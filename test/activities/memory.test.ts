import { createActivities } from '../../src/activities/create-activities.ts';
import type { MemoryWrite } from '../../src/api/run.ts';
import type { MemoryDefinition } from '../../src/api/snapshot.ts';
import type { Message } from '../../src/api/transcript.ts';
import {
  startJournaledServer,
  type JournaledReply,
  type JournaledServer,
} from '../../src/dev/journaled-server.ts';
import { runBrokerInTest, type RunningBroker } from '../broker/running-broker.ts';
import { FakeRuns, fakeRun, inActivity, type Attempt } from '../fakes/activity.ts';
import { access, portsWith } from '../fakes/ports.ts';

/** As contract section 5.2 has it: what it was sent, it gives back. Answers an append as it is told to. */
async function startOldMemory() {
  let kept: unknown[] = [];
  const state = { answer: {} as JournaledReply };
  const server = await startJournaledServer(({ method, path, body }) => {
    if (!path.startsWith('/messages/')) return { status: 404 };
    if (method === 'GET') return { body: JSON.stringify({ messages: kept }) };
    kept = [...kept, ...(JSON.parse(body) as { messages: unknown[] }).messages];
    return state.answer;
  });
  const appends = () => server.requests.filter(({ method }) => method === 'PUT');
  return { server, state, kept: () => kept, appends };
}

let broker: RunningBroker;
let old: Awaited<ReturnType<typeof startOldMemory>>;
let failing: JournaledServer;
let failure: JournaledReply;
beforeAll(async () => {
  [broker, old] = await Promise.all([runBrokerInTest(), startOldMemory()]);
  failing = await startJournaledServer(() => failure);
});
afterAll(() => Promise.all([broker.close(), old.server.close(), failing.close()]));

const said: readonly Message[] = [
  { role: 'assistant', name: 'bot', content: '', toolCalls: [{ id: 'c1', name: 't', arguments: '{}' }] },
  { role: 'tool', toolCallId: 'c1', content: '4' },
  { role: 'assistant', name: 'bot', content: '4 degrees' },
];
const exchange: readonly Message[] = [{ role: 'user', content: 'Weather?' }, ...said];

let sessions = 0;

/** A run that has said three messages, of a session of its own. */
function world(address: MemoryDefinition['address'], session = `session-${++sessions}`) {
  const run = fakeRun(`run-${session}`, said);
  run.definitions['memory'] = {
    kind: 'memory',
    namespace: 'default',
    name: 'm',
    address,
    session,
    query: 'hello',
    access,
  };
  const runs = new FakeRuns(run);
  const activities = createActivities(
    portsWith({ 'default/memory/url': 'http://canary.invalid/canary-path' }),
  );
  const attempted = { run: run.ref, runs };
  return {
    session,
    run,
    runs,
    activities,
    read: () =>
      inActivity({ ...attempted, activityId: 'memory.read' }, () =>
        activities.readMemory({ definition: 'memory', slot: 9 }),
      ),
    write: (attempt: Partial<Attempt> = {}, more: Partial<MemoryWrite> = {}) =>
      inActivity({ ...attempted, activityId: 'memory.write.1', ...attempt }, () =>
        activities.writeMemory({
          definition: 'memory',
          question: { hash: 'q', text: 'Weather?' },
          said: [{ from: 0, to: 3 }],
          ...more,
        }),
      ),
  };
}

describe.each([
  ['the broker', () => broker.url],
  ['a memory of ARK v0.1.31', () => old.server.url],
])('%s', (_, url) => {
  beforeEach(() => old.kept().splice(0));

  test('knows nothing of a new session', async () => {
    expect(await world({ value: url() }).read()).toEqual({ messages: [], held: 0 });
  });

  test('gives back the question and what was said after it', async () => {
    const { read, write } = world({ value: url() });
    await write();
    expect(await read()).toEqual({ messages: exchange, held: exchange.length });
  });

  test('keeps an append once, however often it is tried', async () => {
    const { read, write } = world({ value: url() });
    await write();
    await write({ attempt: 2 });
    await write({ attempt: 3 });
    expect((await read()).messages).toEqual(exchange);
  });

  test('keeps what two targets say in the same words', async () => {
    const { read, write } = world({ value: url() });
    await write();
    await write({ activityId: 'memory.write.2' });
    expect((await read()).messages).toHaveLength(2 * exchange.length);
  });
});

describe('an append to a memory of ARK v0.1.31', () => {
  const unheard = async (append: () => Promise<void>) => {
    old.state.answer = { status: 500 };
    await expect(append()).rejects.toMatchObject({ type: 'MemoryUnavailable', nonRetryable: false });
    old.state.answer = {};
  };
  beforeEach(() => old.kept().splice(0));

  test('that arrived unheard is not made again, whatever another target has added since', async () => {
    const { read, write } = world({ value: old.server.url });
    const { held } = await read();
    await unheard(() => write({}, { held }));
    await write({ activityId: 'memory.write.2' }, { held, said: [{ from: 2, to: 3 }] });
    await write({ attempt: 2 }, { held });
    expect(old.kept()).toHaveLength(exchange.length + 2);
  });

  test('that did not arrive is made again, though the same was said in an earlier Query', async () => {
    const { read, write } = world({ value: old.server.url });
    await write();
    const { held } = await read();
    expect(held).toBe(exchange.length);
    await write({ attempt: 2 }, { held });
    expect(old.kept()).toHaveLength(2 * exchange.length);
  });
});

test('every append says which one it is', async () => {
  const { write, session } = world({ value: old.server.url });
  await write();
  expect(old.appends().at(-1)).toMatchObject({
    path: `/messages/${session}`,
    key: `query:run-${session}:memory.write.1`,
  });
});

test('what was read is heard by the run’s next call without a question', async () => {
  const { read, write, activities, run, runs } = world({ value: broker.url });
  await write();
  await read();
  runs.queries.length = 0;
  const again = {
    definition: 'memory',
    question: { hash: 'q', text: 'And now?' },
    said: [{ from: 9, to: 10 }],
  };
  await inActivity({ run: run.ref, runs, activityId: 'memory.write.2' }, () => activities.writeMemory(again));
  expect(runs.queries).toEqual([]);
  expect((await read()).messages.slice(-4)).toEqual(exchange);
});

describe('failures', () => {
  const reading = 'unable to load initial messages: failed to get messages from memory: ';
  const writing = 'failed to save new messages to memory: ';

  test.each<[JournaledReply, string, string]>([
    [{ status: 503 }, 'MemoryUnavailable', 'HTTP status 503'],
    [{ status: 400 }, 'MemoryRejected', 'HTTP status 400'],
    ['cut', 'MemoryUnavailable', 'HTTP request failed: '],
  ])('%j is %s: %s', async (answer, type, words) => {
    failure = answer;
    const { read, write } = world({ value: failing.url });
    const nonRetryable = type === 'MemoryRejected';
    await expect(read()).rejects.toMatchObject({
      type,
      nonRetryable,
      message: expect.stringContaining(reading + words),
    });
    await expect(write()).rejects.toMatchObject({
      type,
      nonRetryable,
      message: expect.stringContaining(writing + words),
    });
  });

  test('a history that is none', async () => {
    failure = { body: '{"messages":[{"role":"user"},7]}' };
    await expect(world({ value: failing.url }).read()).rejects.toMatchObject({
      type: 'MemoryRejected',
      message: expect.stringContaining(`${reading}failed to unmarshal message at index 1: `),
    });
  });

  test('an address from a Secret is not told', async () => {
    const { read } = world({ secret: { namespace: 'default', name: 'memory', key: 'url' } });
    const caught = (await read().catch((error: unknown) => error)) as Error;
    expect(caught).toMatchObject({ type: 'MemoryUnavailable' });
    expect(JSON.stringify([caught.message, caught.stack, caught])).not.toContain('canary');

    const gone = world({ secret: { namespace: 'default', name: 'memory', key: 'gone' } });
    await expect(gone.read()).rejects.toMatchObject({
      type: 'SecretUnavailable',
      message: `${reading}key gone not found in secret default/memory`,
    });
  });
});
