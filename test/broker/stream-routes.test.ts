import { once } from 'node:events';
import { request } from 'node:http';
import { waitFor } from '../e2e/stack.ts';
import { runBrokerInTest, type RunningBroker } from './running-broker.ts';

let broker: RunningBroker;
const bounds = { streamBytesMax: 64 * 1024, streamsMax: 50, readersMax: 3, bytesMax: 1024 * 1024 };
beforeAll(async () => (broker = await runBrokerInTest(bounds)));
afterAll(() => broker.close());

let streams = 0;
const newQuery = () => `query-${(streams += 1)}`;

const chunk = (content: string, ark: object = {}) => ({
  object: 'chat.completion.chunk',
  choices: [{ delta: { content }, finish_reason: content === '' ? 'stop' : null }],
  ark,
});

async function post(path: string, ...chunks: unknown[]) {
  const body = chunks.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');
  const headers = { 'content-type': 'application/x-ndjson' };
  const response = await fetch(`${broker.url}/stream/${path}`, { method: 'POST', headers, body });
  return { status: response.status, said: await response.json() };
}
const complete = (query: string) => post(`${query}/complete`);

interface Event {
  readonly id?: string;
  readonly name?: string;
  readonly data: string;
}

/** Resolves when the broker has taken the reader in; what is written from then on will be read. */
async function open(path: string, headers: Record<string, string> = {}): Promise<AsyncGenerator<Event>> {
  const response = await fetch(`${broker.url}/stream/${path}`, { headers });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(response.headers.get('cache-control')).toContain('no-cache');
  return events(response.body as unknown as AsyncIterable<Uint8Array>);
}

/** Server-sent events as they come; ends with the stream. Reads no faster than its caller. */
async function* events(body: AsyncIterable<Uint8Array>): AsyncGenerator<Event> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1];
      const [id, name, data] = [field('id'), field('event'), field('data')];
      if (data !== undefined) yield { ...(id && { id }), ...(name && { name }), data };
    }
  }
}

async function all(path: string, headers: Record<string, string> = {}): Promise<Event[]> {
  const found: Event[] = [];
  for await (const event of await open(path, headers)) found.push(event);
  return found;
}
const said = (found: readonly Event[]) =>
  found.map(({ data }) =>
    data === '[DONE]' ? data : (JSON.parse(data) as ReturnType<typeof chunk>).choices?.[0]?.delta.content,
  );

test('a finished stream is read from its beginning, and ends with [DONE]', async () => {
  const query = newQuery();
  expect(await post(query, chunk('Hel'), '', chunk('lo'))).toEqual({
    status: 200,
    said: { status: 'received', query, chunks: 2 },
  });
  await post(query, chunk(''), chunk('more'));
  expect(await complete(query)).toEqual({ status: 200, said: { status: 'completed', query } });
  expect(await complete(query)).toEqual({ status: 200, said: { status: 'completed', query } });

  const found = await all(`${query}?from-beginning=true`);
  expect(said(found)).toEqual(['Hel', 'lo', '', 'more', '[DONE]']);
  expect(said(await all(query))).toEqual(['[DONE]']);
});

test('a reader that waits for a query sees its chunks while the writer still writes', async () => {
  const query = newQuery();
  const opening = open(`${query}?from-beginning=true&wait-for-query=2m`);

  const writer = request(`${broker.url}/stream/${query}`, { method: 'POST' });
  const answered = once(writer, 'response');
  writer.write(`${JSON.stringify(chunk('one'))}\n${JSON.stringify(chunk('two')).slice(0, 9)}`);
  const reading = await opening;
  expect(said([(await reading.next()).value as Event])).toEqual(['one']);
  writer.write(`${JSON.stringify(chunk('two')).slice(9)}\n`);
  expect(said([(await reading.next()).value as Event])).toEqual(['two']);
  writer.end(JSON.stringify(chunk('three')));
  expect(said([(await reading.next()).value as Event])).toEqual(['three']);
  await answered;
  await complete(query);
  expect((await reading.next()).value).toEqual({ data: '[DONE]' });
  expect((await reading.next()).done).toBe(true);
});

test('a reader that comes later sees only what comes then', async () => {
  const query = newQuery();
  await post(query, chunk('before'));
  const reading = await open(query);
  await post(query, chunk('after'));
  await complete(query);
  const found: Event[] = [];
  for await (const event of reading) found.push(event);
  expect(said(found)).toEqual(['after', '[DONE]']);
});

test('a reader that was cut off goes on after the last event it saw', async () => {
  const query = newQuery();
  await post(query, ...'abcdef'.split('').map((letter) => chunk(letter)));
  const seen: Event[] = [];
  for await (const event of await open(`${query}?from-beginning=true`)) {
    seen.push(event);
    if (seen.length === 3) break;
  }
  await complete(query);
  const rest = await all(query, { 'last-event-id': seen.at(-1)?.id ?? '' });
  expect(said([...seen, ...rest])).toEqual(['a', 'b', 'c', 'd', 'e', 'f', '[DONE]']);

  // Of a stream that is no more: all of the present one.
  expect(said(await all(query, { 'last-event-id': '00000000-5' }))).toHaveLength(7);
});

test('two writers at once: every chunk arrives, each writer in its order', async () => {
  const query = newQuery();
  const writes = ['ann', 'bob'].map(async (agent) => {
    for (let n = 0; n < 30; n += 1) await post(query, chunk(`${agent}${n}`, { agent }));
  });
  await Promise.all(writes);
  await complete(query);
  const found = said(await all(`${query}?from-beginning=true`));
  for (const agent of ['ann', 'bob']) {
    const own = found.filter((text) => text?.startsWith(agent));
    expect(own).toEqual(Array.from({ length: 30 }, (_, n) => `${agent}${n}`));
  }
});

test('a call that began again says so between the chunks of both attempts', async () => {
  const query = newQuery();
  await post(query, chunk('half', { call: 'c1' }), { choices: [], ark: { restart: { call: 'c1' } } });
  await post(query, chunk('whole', { call: 'c1' }));
  await complete(query);
  const found = await all(`${query}?from-beginning=true`);
  expect(found.map(({ data }) => /restart|half|whole|DONE/.exec(data)?.[0])).toEqual([
    'half',
    'restart',
    'whole',
    'DONE',
  ]);
});

test('a write to a finished stream begins a new one', async () => {
  const query = newQuery();
  await post(query, chunk('first run'));
  await complete(query);
  await post(query, chunk('second run'));
  await complete(query);
  expect(said(await all(`${query}?from-beginning=true`))).toEqual(['second run', '[DONE]']);
});

test('what does not fit is said to be missing, and a slow reader is cut off by name', async () => {
  const query = newQuery();
  await post(query, chunk('begin'));
  const slow = await open(`${query}?from-beginning=true`);
  expect(said([(await slow.next()).value as Event])).toEqual(['begin']);

  // More than the sockets between us can hold: only then is a reader that does not read behind.
  for (let n = 0; n < 400; n += 1) await post(query, ...Array(3).fill(chunk('x'.repeat(20_000))));
  await complete(query);
  const late = await all(`${query}?from-beginning=true`);
  expect(late[0]).toMatchObject({ name: 'truncated', data: '{"missing":1199}' });
  expect(late.at(-1)).toEqual({ data: '[DONE]' });

  const seen: Event[] = [];
  for await (const event of slow) seen.push(event);
  expect(seen.at(-1)).toMatchObject({ name: 'cut-off' });
  expect(JSON.parse(seen.at(-1)?.data ?? '')).toMatchObject({ missing: expect.any(Number) });
  expect(await broker.metric('readers_cut_off_total')).toMatch(
    /reason="(reader-too-slow|stream-dropped)"\} 1/,
  );
});

test.each([
  ['not JSON', ['{"a":1}', 'hello'], 400, 'Line 2 is not a JSON object; the lines before it were taken'],
  ['no object', ['[1]'], 400, 'Line 1 is not a JSON object; the lines before it were taken'],
  ['too long', [`{"a":"${'x'.repeat(1024 * 1024)}"}`], 413, 'A line may have at most 1048576 characters'],
])('a line that is %s is refused', async (_, lines, status, error) => {
  expect(await post(newQuery(), ...lines)).toEqual({ status, said: { error } });
});

test.each([
  ['unknown', /^404 .*There is no stream of query unknown/],
  ['unknown?wait-for-query=50ms', /^404 /],
  ['unknown?wait-for-query=soon', /^400 .*must be a duration such as 30s/],
  ['q'.repeat(513), /^400 /],
])('GET /stream/%.40s is refused', async (path, message) => {
  await expect(all(path)).rejects.toThrow(message);
});

test('there are places for so many readers, and those who leave give theirs back', async () => {
  const query = newQuery();
  await post(query, chunk('x'));
  const readers = await Promise.all([1, 2, 3].map(() => open(`${query}?from-beginning=true`)));
  await Promise.all(readers.map((reader) => reader.next()));
  await expect(all(query)).rejects.toThrow('503');
  await Promise.all(readers.map((reader) => reader.return(undefined)));
  for (let n = 0; n < 4; n += 1)
    expect((await fetch(`${broker.url}/stream/${query}`, { method: 'HEAD' })).status).toBe(405);
  await complete(query);
  await waitFor(async () => (await all(query).catch(() => [])).length === 1, { what: 'a free place' });
});

test('streams are bounded: finished ones make room, unfinished ones are not pushed out', async () => {
  const own = await runBrokerInTest({ streamsMax: 2 });
  const send = (path: string) =>
    fetch(`${own.url}/stream/${path}`, { method: 'POST', body: '{"a":1}' }).then(({ status }) => status);
  try {
    expect([await send('a'), await send('b'), await send('c')]).toEqual([200, 200, 503]);
    await send('a/complete');
    expect(await send('c')).toBe(200);
    expect((await fetch(`${own.url}/stream/a`)).status).toBe(404);
  } finally {
    await own.close();
  }
});
