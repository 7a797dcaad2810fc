import type { Database } from './database.ts';

/** Numbered from 1 by their place. What is released is never changed; a change is one more at the end. */
const migrations: readonly ((dialect: Database['dialect']) => readonly string[])[] = [
  (dialect) => [
    `CREATE TABLE broker_conversations (
       id text PRIMARY KEY,
       created_at bigint NOT NULL,
       updated_at bigint NOT NULL
     )`,
    `CREATE INDEX broker_conversations_by_age ON broker_conversations (updated_at)`,
    // The message is kept as text: jsonb would change the order of its fields and refuse some characters.
    `CREATE TABLE broker_messages (
       sequence ${counted[dialect]},
       conversation_id text NOT NULL,
       query_id text NOT NULL,
       message text NOT NULL,
       bytes integer NOT NULL,
       created_at bigint NOT NULL,
       expires_at bigint
     )`,
    `CREATE INDEX broker_messages_of_conversation ON broker_messages (conversation_id, sequence)`,
    `CREATE INDEX broker_messages_of_query ON broker_messages (query_id, sequence)`,
    `CREATE INDEX broker_messages_that_expire ON broker_messages (expires_at) WHERE expires_at IS NOT NULL`,
    `CREATE TABLE broker_appends (
       conversation_id text NOT NULL,
       key text NOT NULL,
       created_at bigint NOT NULL,
       PRIMARY KEY (conversation_id, key)
     )`,
    `CREATE INDEX broker_appends_by_age ON broker_appends (created_at)`,
  ],
];

/** Never gives a number twice, also not one whose row is gone: readers remember how far they have read. */
const counted = {
  sqlite: 'integer PRIMARY KEY AUTOINCREMENT',
  postgresql: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
} as const;

/** Any number that no other program on the same database would choose. */
const lockNumber = 4_127_310_031;

/**
 * Brings the tables up to date, in one transaction. Of several brokers that start at the same time one does it while the
 * others wait. Rejects where a newer broker has been here.
 */
export async function migrate(database: Database): Promise<void> {
  await database.transaction(async (sql) => {
    if (database.dialect === 'postgresql') await sql.query('SELECT pg_advisory_xact_lock($1)', [lockNumber]);
    await sql.query(
      'CREATE TABLE IF NOT EXISTS broker_migrations (version integer PRIMARY KEY, applied_at bigint NOT NULL)',
    );
    const [newest] = await sql.query<{ version: number | null }>(
      'SELECT MAX(version) AS version FROM broker_migrations',
    );
    const version = newest?.version ?? 0;
    if (version > migrations.length)
      throw new Error(
        `its tables are of version ${version} and this broker knows versions up to ${migrations.length}; run the newer one`,
      );
    for (const [index, statements] of migrations.entries()) {
      if (index < version) continue;
      for (const statement of statements(database.dialect)) await sql.query(statement);
      await sql.query('INSERT INTO broker_migrations (version, applied_at) VALUES ($1, $2)', [
        index + 1,
        Date.now(),
      ]);
    }
  });
}
