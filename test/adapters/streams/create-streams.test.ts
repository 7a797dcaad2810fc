import { createStreams } from '../../../src/adapters/streams/create-streams.ts';
import { createPublisher, type Dropped } from '../../../src/adapters/streams/publisher.ts';
import { startJournaledServer } from '../../../src/dev/journaled-server.ts';
import { runBrokerInTest, type RunningBroker } from '../../broker/running-broker.ts';
import { waitFor } from '../../e2e/stack.ts';

const signal = new AbortController().signal;
const about = {
  query: 'my query',
  session: 's',
  target: 'team/t',
  team: 't',
  agent: 'ann',
  model: 'default',
};
const delta = (content: string) => ({
  id: 'x',
  object: 'chat.completion.chunk',
  choices: [{ delta: { content } }],
});

describe('a stream', () => {
  let broker: RunningBroker;
  beforeAll(async () => (broker = await runBrokerInTest()));
  afterAll(() => broker.close());

  test('arrives in order, with what every chunk is about, and ends', async () => {
    const dropped: Dropped[] = [];
    const streams = createStreams({ onDropped: (why) => dropped.push(why) });
    const address = `${broker.url}/`;
    const first = streams.open({ address, about, call: 't001.ann.model.1' }, signal);
    first.write(delta('Hal'));
    await first.end();
    const second = streams.open({ address, about, call: 't001.ann.model.1' }, signal);
    second.restart();
    const letters = [...'Hello, how are you today?'];
    for (const letter of letters) second.write(delta(letter));
    await second.end();
    await streams.complete({ address, about }, signal);
    await streams.close();

    const answer = await fetch(`${broker.url}/stream/my%20query?from-beginning=true`);
    const data = [...(await answer.text()).matchAll(/^data: (.*)$/gm)].map(([, text]) => text ?? '');
    expect(data.pop()).toBe('[DONE]');
    const chunks = data.map((text) => JSON.parse(text) as ReturnType<typeof delta> & { ark: object });
    expect(chunks[0]).toEqual({ ...delta('Hal'), ark: { ...about, call: 't001.ann.model.1' } });
    expect(chunks[1]?.ark).toMatchObject({ restart: { call: 't001.ann.model.1' }, agent: 'ann' });
    expect(chunks.slice(2, -1).map(({ choices }) => choices[0]?.delta.content)).toEqual(letters);
    expect(chunks.at(-1)).toMatchObject({ choices: [], ark: { ...about, completedQuery: 'my query' } });
    expect(dropped).toEqual([]);
  });
});

test('chunks are sent as lines of JSON, and their end by a request of its own', async () => {
  const server = await startJournaledServer(() => ({}));
  const streams = createStreams();
  const stream = streams.open({ address: server.url, about }, signal);
  stream.write(delta('Hi'));
  await stream.end();
  await streams.complete({ address: server.url, about }, signal);
  await streams.close();
  await server.close();

  const sent = server.requests.map(({ method, path, headers }) => [method, path, headers['content-type']]);
  expect(sent).toEqual([
    ['POST', '/stream/my%20query', 'application/x-ndjson'],
    ['POST', '/stream/my%20query', 'application/x-ndjson'],
    ['POST', '/stream/my%20query/complete', 'application/x-ndjson'],
  ]);
  for (const { body } of server.requests.slice(0, 2)) {
    expect(body.endsWith('\n')).toBe(true);
    expect(JSON.parse(body)).toMatchObject({ object: 'chat.completion.chunk', ark: about });
  }
});

test('a broker that fails is given up after a few requests, and nobody hears of it but the counter', async () => {
  const server = await startJournaledServer(() => ({ status: 500, body: '' }));
  const dropped: Partial<Record<Dropped, number>> = {};
  const streams = createStreams({ onDropped: (why, count) => (dropped[why] = (dropped[why] ?? 0) + count) });
  const stream = streams.open({ address: server.url, about }, signal);
  for (let n = 0; n < 20; n += 1) {
    stream.write(delta(String(n)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await stream.end();
  expect(dropped).toEqual({ unreachable: 20 });
  expect(server.requests.length).toBeLessThanOrEqual(3);

  await streams.complete({ address: 'http://127.0.0.1:1', about }, signal);
  await streams.complete({ address: 'no address', about }, signal);
  await streams.close();
  await server.close();
});

describe('the publisher', () => {
  /** A far side that takes one request at a time, when it is told to. */
  function slowSide() {
    const taken: string[][] = [];
    let release: () => void = () => undefined;
    const send = async (lines: readonly string[]) => {
      taken.push([...lines]);
      await new Promise<void>((resolve) => (release = resolve));
    };
    return { taken, send, release: () => release() };
  }

  test('sends the first line at once, and what comes meanwhile together', async () => {
    const { taken, send, release } = slowSide();
    const publisher = createPublisher(send, () => undefined);
    for (const line of ['a', 'b', 'c']) publisher.add(line);
    expect(taken).toEqual([['a']]);
    release();
    await waitFor(() => taken.length === 2, { what: 'the second request' });
    release();
    await publisher.end();
    expect(taken).toEqual([['a'], ['b', 'c']]);
  });

  test('drops what does not fit, by name and number, and keeps the order of the rest', async () => {
    const { taken, send, release } = slowSide();
    const dropped: [Dropped, number][] = [];
    const publisher = createPublisher(send, (...what) => dropped.push(what));
    for (let n = 0; n < 20; n += 1) publisher.add(`${n} ${'x'.repeat(100_000)}`);
    expect(dropped).toEqual(Array.from({ length: 9 }, () => ['buffer-full', 1]));
    const over = setInterval(release, 1);
    await publisher.end();
    clearInterval(over);
    expect(taken.flat().map((line) => Number.parseInt(line, 10))).toEqual(
      Array.from({ length: 11 }, (_, n) => n),
    );

    publisher.add('late');
    expect(dropped.at(-1)).toEqual(['ended', 1]);
  });
});
