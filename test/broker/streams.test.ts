import { createBrokerMetrics, createRegistry } from '../../src/adapters/telemetry/metrics.ts';
import { afterEvent } from '../../src/broker/event-source.ts';
import { streamRoutes } from '../../src/broker/stream-routes.ts';
import { Streams } from '../../src/broker/streams.ts';
import { waitFor } from '../e2e/stack.ts';

const signal = new AbortController().signal;
const textsOf = (streams: Streams, query: string): readonly string[] => {
  const stream = streams.find(query);
  return stream?.from(stream.oldest, Infinity).map(({ text }) => text) ?? [];
};

test('whoever waits for a Query gets its stream when it begins, and nothing when it does not', async () => {
  const streams = new Streams();
  const waiting = [streams.appears('q', 60_000, signal), streams.appears('q', 60_000, signal)];
  const giving = new AbortController();
  const given = streams.appears('q', 60_000, giving.signal);
  giving.abort();
  expect(await given).toBeUndefined();
  expect(await streams.appears('q', 1, signal)).toBeUndefined();

  streams.write('q', '1');
  expect(await Promise.all(waiting)).toEqual([streams.find('q'), streams.find('q')]);
  expect(await streams.appears('q', 0, signal)).toBe(streams.find('q'));
});

test('a reader who waited for a stream is given its first words', async () => {
  const streams = new Streams();
  const metrics = createBrokerMetrics(createRegistry());
  const routes = streamRoutes({ streams, metrics, stopping: signal });
  const reading = routes.request('/stream/q?wait-for-query=20s');
  await waitFor(() => streams.readers === 1, { what: 'the reader' });

  for (const line of ['{"a":1}', '{"a":2}']) streams.write('q', line);
  streams.complete('q');
  const text = await (await reading).text();
  expect([...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data)).toEqual([
    '{"a":1}',
    '{"a":2}',
    '[DONE]',
  ]);
});

test('a stream that is completed before anybody wrote to it ends its readers', async () => {
  const streams = new Streams();
  streams.complete('q');
  expect(streams.find('q')).toMatchObject({ end: 'complete', newest: 0 });
});

test('streams are forgotten when their time is over, unfinished ones later', () => {
  const streams = new Streams({ keepFinishedMs: 60_000, keepIdleMs: 600_000 });
  const beforeMs = performance.now();
  streams.write('finished', '1');
  streams.complete('finished');
  streams.write('idle', '1');
  const idle = streams.find('idle');
  const afterMs = performance.now();

  streams.sweep(beforeMs + 59_999);
  expect(streams.count).toBe(2);
  streams.sweep(afterMs + 60_001);
  expect([streams.find('finished'), streams.find('idle')]).toEqual([undefined, idle]);
  streams.sweep(afterMs + 600_001);
  expect([streams.count, streams.bytes, idle?.end]).toEqual([0, 0, 'dropped']);
});

test('the memory of all streams is bounded: finished ones go, the oldest first, and then writers are refused', () => {
  const streams = new Streams({ bytesMax: 100, streamBytesMax: 1_000 });
  const line = 'x'.repeat(40);
  for (const query of ['a', 'b', 'c']) {
    streams.write(query, line);
    if (query !== 'c') streams.complete(query);
  }
  streams.write('d', line);
  expect([...'abcd'].map((query) => streams.find(query) !== undefined)).toEqual([false, true, true, true]);

  streams.write('d', line);
  expect(() => streams.write('d', line)).toThrow('All streams together hold 100 bytes or more');
  expect(streams.bytes).toBeLessThanOrEqual(100 + line.length);
  expect(textsOf(streams, 'd')).toHaveLength(2);
});

test('a full stream keeps its newest lines, numbered as ever', () => {
  const streams = new Streams({ streamBytesMax: 10 });
  for (let n = 1; n <= 25; n += 1) streams.write('q', String(n % 10));
  const stream = streams.find('q');
  expect([stream?.newest, stream?.from(stream.newest, 1)[0]?.text]).toEqual([25, '5']);
  expect(stream?.oldest).toBeGreaterThanOrEqual(25 - 9);
  expect(textsOf(streams, 'q').join('')).toMatch(/^\d{5,10}$/);
});

test('an event id leads back into its own stream only', () => {
  const streams = new Streams();
  for (const line of ['1', '2', '3']) streams.write('q', line);
  const stream = streams.find('q')!;
  expect(afterEvent(stream, `${stream.id}-2`)).toBe(3);
  expect(afterEvent(stream, `${stream.id}-99`)).toBe(4);
  expect(afterEvent(stream, '00000000-2')).toBeUndefined();
  expect(afterEvent(stream, 'nonsense')).toBeUndefined();
});
