import type { KubernetesConnection } from '../../../src/adapters/kubernetes/connection.ts';
import { createEventRecorder } from '../../../src/adapters/kubernetes/event-recorder.ts';
import type { EventRecorderOptions } from '../../../src/adapters/kubernetes/event-recorder.ts';
import { refusal } from '../../../src/adapters/kubernetes/kubernetes-error.ts';
import { queryEvents, type Events } from '../../../src/adapters/kubernetes/query-events.ts';

interface Written {
  readonly metadata: { readonly name: string };
  readonly involvedObject: { readonly name: string };
  readonly reason: string;
  readonly message: string;
}

/** A recorder, and what an API server that answers so was given by it. */
function recorderAt(
  answer: () => Promise<unknown> = () => Promise.resolve({}),
  options?: EventRecorderOptions,
) {
  const posted: { readonly method: string; readonly path: string; readonly body: Written }[] = [];
  // All that a recorder calls: one request at a time, answered as the test says.
  const connection = {
    request(method: string, path: string, { body }: { readonly body: Written }) {
      posted.push({ method, path, body });
      return answer();
    },
  } as unknown as KubernetesConnection;
  return { posted, recorder: createEventRecorder(connection, options) };
}

const query = { namespace: 'default', name: 'hello', uid: '6f1c' };
const about = { apiVersion: 'ark.mckinsey.com/v1alpha1', kind: 'Query', ...query };
const event = { component: 'query-controller', reason: 'QueryResolveStart', message: '{}' };

test('what is told of a Query is a core/v1 Event of it (contract section 6.1)', async () => {
  const { posted, recorder } = recorderAt();
  const tell = queryEvents('all', recorder);
  tell({ query, reason: 'QueryResolveStart', name: 'hello', facts: { targets: '1', namespace: 'default' } });
  tell({ query, reason: 'QueryResolveError', name: 'hello', facts: {}, error: 'no' });
  await recorder.close();

  const aTime = expect.stringMatching(/^\d{4}-.*Z$/) as string;
  const every = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace: 'default', name: expect.stringMatching(/^hello\.[0-9a-f]{16}$/) as string },
    involvedObject: about,
    source: { component: 'query-controller' },
    reportingComponent: 'query-controller',
    firstTimestamp: aTime,
    lastTimestamp: aTime,
    count: 1,
  };
  expect(posted).toEqual([
    {
      method: 'POST',
      path: '/api/v1/namespaces/default/events',
      body: {
        ...every,
        type: 'Normal',
        reason: 'QueryResolveStart',
        message: '{"name":"hello","namespace":"default","targets":"1"}',
      },
    },
    {
      method: 'POST',
      path: '/api/v1/namespaces/default/events',
      body: {
        ...every,
        type: 'Warning',
        reason: 'QueryResolveError',
        message: '{"error":"no","name":"hello"}',
      },
    },
  ]);
});

test.each<[Events, string[]]>([
  ['all', ['LLMCallStart', 'LLMCallError']],
  ['errors', ['LLMCallError']],
  ['none', []],
])('of Queries are written: %s', async (which, reasons) => {
  const { posted, recorder } = recorderAt();
  for (const reason of ['LLMCallStart', 'LLMCallError'])
    queryEvents(which, recorder)({ query, reason, name: 'gpt', facts: {} });
  await recorder.close();
  expect(posted.map(({ body }) => body.reason)).toEqual(reasons);
});

test('an object has a hundred at once, whatever another one has', async () => {
  const { posted, recorder } = recorderAt();
  const recordMany = (uid: string) => {
    for (let n = 0; n < 150; n++) recorder.record({ ...about, name: uid, uid }, event);
  };
  recordMany('one');
  recordMany('other');
  await recorder.close();
  for (const name of ['one', 'other']) {
    const of = posted.filter(({ body }) => body.involvedObject.name === name);
    expect(of.length).toBeGreaterThanOrEqual(100);
    // What time has given back meanwhile.
    expect(of.length).toBeLessThan(150);
  }
  expect(recorder.state()).toEqual({ waiting: 0, written: posted.length, dropped: 300 - posted.length });
});

test('one that is there already was written by an attempt whose reply was lost', async () => {
  const already = refusal('create events', 409, '{"reason":"AlreadyExists"}');
  const { recorder } = recorderAt(() => Promise.reject(already));
  recorder.record(about, event);
  await recorder.close();
  expect(recorder.state()).toMatchObject({ written: 1, dropped: 0 });
});

test('what cannot be written is counted, and in nobody’s way', async () => {
  const dropped: unknown[] = [];
  const error = new Error('no API server');
  const { recorder } = recorderAt(() => Promise.reject(error), {
    waitingMax: 1,
    writers: 1,
    onDrop: (...drop) => dropped.push(drop[2]),
  });
  for (let n = 0; n < 3; n++) recorder.record(about, event);
  await recorder.close();
  recorder.record(about, event);
  expect(recorder.state()).toMatchObject({ waiting: 0, written: 0, dropped: 4 });
  expect(dropped).toEqual([undefined, error, error, undefined]);
});

test('a name, a reason and a message fit into an Event, and no character is split', async () => {
  const { posted, recorder } = recorderAt();
  const name = 'n'.repeat(253);
  recorder.record({ ...about, name }, { ...event, reason: 'R'.repeat(200), message: 'é'.repeat(10_000) });
  await recorder.close();
  const [{ body } = {}] = posted;
  expect(body?.metadata.name).toHaveLength(253);
  expect(Buffer.byteLength(body?.reason ?? '')).toBeLessThanOrEqual(128);
  expect(body?.message).toMatch(/^é+…$/);
  expect(Buffer.byteLength(body?.message ?? '')).toBeLessThanOrEqual(16 * 1024);
});
