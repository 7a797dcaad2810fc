import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/adapters/telemetry/logger.ts';
import { keyAgeMaxMs, newestMessagesMax, type Append } from '../../src/broker/conversations.ts';
import type { Database } from '../../src/broker/database.ts';
import { openDatabase, type Storage } from '../../src/broker/open-database.ts';
import { storedConversations } from '../../src/broker/stored-conversations.ts';
import { hasPostgresql, startPostgresql, type PostgresqlServer } from './postgresql-server.ts';

const logger = createLogger({ level: 'silent', name: 'test' });

let folder: string;
let server: PostgresqlServer | undefined;
let files = 0;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'arkwright-broker-'))));
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Where an empty database of each kind can be had. */
const backends: [string, () => Promise<Storage>][] = [
  ['SQLite', async () => ({ file: join(folder, 'made', `${(files += 1)}.db`) })],
];
const postgresql = async (): Promise<Storage> => {
  server ??= await startPostgresql();
  return { databaseUrl: await server.database() };
};
if (hasPostgresql) backends.push(['PostgreSQL', postgresql]);
// oxlint-disable-next-line jest/no-disabled-tests -- says by name what this machine cannot show
else test.skip('PostgreSQL: no ARKWRIGHT_TEST_DATABASE_URL and no initdb on this machine', () => undefined);

describe.each(backends)('conversations in %s', (_, newStorage) => {
  let database: Database;
  let nowMs = 1_000_000_000;
  const open = () => storedConversations(database, () => nowMs);
  let conversations: ReturnType<typeof open>;

  beforeEach(async () => {
    database = await openDatabase(await newStorage(), logger);
    conversations = open();
  });
  afterEach(() => database.close());

  const add = (conversation: string, messages: readonly string[], more: Partial<Append> = {}) =>
    conversations.append({ conversation, query: '', messages, ...more });
  const texts = (count: number, name = 'm') =>
    Array.from({ length: count }, (__, index) =>
      JSON.stringify({ role: 'user', content: `${name}${index}` }),
    );
  const page = { limit: 100, offset: 0 };

  test('keep the order of messages within an append and between appends', async () => {
    const [first, second] = [texts(300, 'a'), texts(2, 'b')];
    await add('s', first);
    await add('s', second);
    expect(await conversations.newest('s')).toEqual([...first, ...second]);
    expect(await conversations.newest('other')).toEqual([]);
  });

  test('never mix the messages of appends that happen at the same time', async () => {
    const batches = Array.from({ length: 12 }, (__, index) => texts(20, `b${index}-`));
    await Promise.all(batches.map((batch) => add('s', batch)));
    const kept = await conversations.newest('s');
    const order = kept.filter((___, index) => index % 20 === 0).map((text) => /b\d+-/.exec(text)?.[0]);
    const whole = order.flatMap((name) => texts(20, name));
    expect(kept).toEqual(whole);
    expect(new Set(order).size).toBe(12);
  });

  test('return every text as it came, whatever characters it has', async () => {
    const strange = [
      '{"b":1,"a":"\\u0000 \\ud800 \u2028 \u00e9 \ud83d\ude00"}',
      '"just text"',
      'null',
      '[1,2]',
    ];
    await add('s', strange);
    expect(await conversations.newest('s')).toEqual(strange);
    expect((await conversations.messages({}, page)).records.map(({ message }) => message)).toEqual(strange);
  });

  test('add once for a key, however often and from however many it comes at once', async () => {
    const repeats = await Promise.all(
      Array.from({ length: 8 }, () => add('s', texts(3), { key: 'run-1/append' })),
    );
    expect(repeats.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1);
    expect(await add('s', texts(3), { key: 'run-1/append' })).toEqual({ isRepeated: true });
    expect(await conversations.newest('s')).toEqual(texts(3));

    await add('other', texts(3), { key: 'run-1/append' });
    expect(await conversations.newest('other')).toHaveLength(3);
  });

  test('forget what an append had done when it fails in the middle', async () => {
    const broken = add('s', ['{"content":"one"}', 2n as unknown as string, { no: 'text' } as never], {
      key: 'k',
    });
    await expect(broken).rejects.toThrow();
    expect(await conversations.newest('s')).toEqual([]);
    expect(await add('s', texts(1), { key: 'k' })).toEqual({ isRepeated: false });
  });

  test('are found page by page, by conversation and by query', async () => {
    await add('s', texts(5), { query: 'q1' });
    await add('s', texts(2, 'n'), { query: 'q2' });
    await add('t', texts(1, 'o'), { query: 'q1' });

    const found = await conversations.messages({ conversation: 's' }, { limit: 3, offset: 3 });
    expect(found.total).toBe(7);
    expect(found.records.map(({ message }) => message)).toEqual([...texts(5).slice(3), texts(1, 'n')[0]]);
    expect(found.records[2]).toMatchObject({ conversation: 's', query: 'q2', createdAtMs: nowMs });
    const sequences = found.records.map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    expect((await conversations.messages({ query: 'q1' }, page)).total).toBe(6);
    expect((await conversations.messages({ conversation: 't', query: 'q2' }, page)).records).toEqual([]);
  });

  test('end with their time, first for readers and then on disk', async () => {
    await add('s', texts(1, 'stays'));
    await add('s', texts(1_500, 'goes'), { ttlMs: 10_000 });
    expect(await conversations.sweep()).toBe(0);

    nowMs += 10_000;
    expect(await conversations.newest('s')).toEqual(texts(1, 'stays'));
    expect((await conversations.messages({ conversation: 's' }, page)).total).toBe(1);
    expect(await conversations.find('s')).toMatchObject({ messages: 1 });
    expect(await conversations.sweep()).toBe(1_500);
    expect(await conversations.sweep()).toBe(0);
  });

  test('forget keys and empty conversations after a week', async () => {
    await conversations.create('empty');
    await add('s', texts(1), { key: 'k' });
    nowMs += keyAgeMaxMs;
    await conversations.sweep();
    expect(await conversations.find('empty')).toBeUndefined();
    expect(await conversations.find('s')).toBeDefined();
    expect(await add('s', texts(1), { key: 'k' })).toEqual({ isRepeated: false });
  });

  test('are listed, the most recently used first', async () => {
    await conversations.create('a');
    nowMs += 1;
    await add('b', texts(2));
    nowMs += 1;
    await add('a', texts(1));
    expect(await conversations.list(page)).toEqual([
      { id: 'a', createdAtMs: nowMs - 2, updatedAtMs: nowMs, messages: 1 },
      { id: 'b', createdAtMs: nowMs - 1, updatedAtMs: nowMs - 1, messages: 2 },
    ]);
    expect(await conversations.list({ limit: 1, offset: 1 })).toHaveLength(1);
  });

  test('lose the messages of a Query when asked to, and no others', async () => {
    await add('s', texts(1_200, 'gone'), { query: 'q1' });
    await add('s', texts(1, 'kept'), { query: 'q2' });
    expect(await conversations.removeQuery('q1')).toBe(1_200);
    expect(await conversations.newest('s')).toEqual(texts(1, 'kept'));
    expect(await conversations.removeQuery('q1')).toBe(0);
  });

  test('answer with a bounded number of messages, and bytes, the newest', async () => {
    await add('many', texts(newestMessagesMax));
    await add('many', texts(1, 'last'));
    const kept = await conversations.newest('many');
    expect([kept.length, kept.at(-1)]).toEqual([newestMessagesMax, texts(1, 'last')[0]]);

    const big = JSON.stringify({ content: 'x'.repeat(9 * 1024 * 1024) });
    await add('big', [big, big, big, big]);
    expect(await conversations.newest('big')).toHaveLength(3);
    expect((await conversations.messages({ conversation: 'big' }, page)).records).toHaveLength(1);
  });
});

describe.each(backends)('the tables in %s', (name, newStorage) => {
  test('are made once, by brokers that start at the same time, and stay when opened again', async () => {
    const storage = await newStorage();
    // A file's second broker would wait here for the first one, which is in the same process.
    const brokers = name === 'SQLite' ? [1] : [1, 2, 3];
    const opened = await Promise.all(brokers.map(() => openDatabase(storage, logger)));
    await storedConversations(opened[0]!).append({ conversation: 's', query: '', messages: ['1'] });
    await Promise.all(opened.map((each) => each.close()));

    const again = await openDatabase(storage, logger);
    expect(await storedConversations(again).newest('s')).toEqual(['1']);
    await again.close();
  });

  test('of a newer broker are left alone', async () => {
    const storage = await newStorage();
    const newer = await openDatabase(storage, logger);
    await newer.query('INSERT INTO broker_migrations (version, applied_at) VALUES (99, 0)');
    await newer.close();
    await expect(openDatabase(storage, logger)).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/version 99 .* run the newer one/) },
    });
  });
});

test('a database that is not there is named, without its password', async () => {
  await expect(
    openDatabase({ databaseUrl: 'postgresql://u:canary-77@127.0.0.1:1/db' }, logger),
  ).rejects.toThrow(/^cannot open the PostgreSQL database 127.0.0.1:1\/db$/);
  const file = join(folder, 'no-database.db');
  await writeFile(file, 'This is no database, and longer than the header of one. '.repeat(20));
  await expect(openDatabase({ file }, logger)).rejects.toThrow(`cannot open the SQLite file ${file}`);
});
