import {
  keyAgeMaxMs,
  newestBytesMax,
  newestMessagesMax,
  pageBytesMax,
  type Conversation,
  type Conversations,
  type Stored,
} from './conversations.ts';
import type { Database, Sql, SqlValue } from './database.ts';

/** A sweep deletes in small steps, so that nobody waits long for it; what it does not manage is left to the next. */
const rowsPerStep = 1_000;
const stepsPerSweep = 100;
/** Ten million messages of one Query. */
const stepsPerRemoval = 10_000;

/** The conversations in a database whose tables are up to date. `now` is the time in milliseconds. */
export function storedConversations(database: Database, now: () => number = Date.now): Conversations {
  /** Deletes rows until there are none or the steps are used up; resolves with how many. */
  async function remove(statement: string, values: readonly SqlValue[], stepsMax: number): Promise<number> {
    let removed = 0;
    for (let step = 0; step < stepsMax; step += 1) {
      const rows = await database.query(statement, [...values, rowsPerStep]);
      removed += rows.length;
      if (rows.length < rowsPerStep) break;
    }
    return removed;
  }

  return {
    append: ({ conversation, query, messages, ttlMs, key }) =>
      database.transaction(async (sql) => {
        const nowMs = now();
        // First of all: it holds the row, so appends to one conversation come one after the other.
        await touch(sql, conversation, nowMs);
        if (key !== undefined && !(await isNew(sql, conversation, key, nowMs))) return { isRepeated: true };

        const expiresAt = ttlMs === undefined ? null : nowMs + ttlMs;
        for (const message of messages) {
          await sql.query(
            `INSERT INTO broker_messages (conversation_id, query_id, message, bytes, created_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6)`,
            [conversation, query, message, Buffer.byteLength(message), nowMs, expiresAt],
          );
        }
        return { isRepeated: false };
      }),

    create: (id) => touch(database, id, now()),

    async find(id) {
      const [found] = await database.query<ConversationRow>(
        `SELECT ${conversationColumns(2)} FROM broker_conversations WHERE id = $1`,
        [id, now()],
      );
      return found && conversationOf(found);
    },

    async list({ limit, offset }) {
      const rows = await database.query<ConversationRow>(
        `SELECT ${conversationColumns(1)} FROM broker_conversations ORDER BY updated_at DESC, id LIMIT $2 OFFSET $3`,
        [now(), limit, offset],
      );
      return rows.map(conversationOf);
    },

    async messages({ conversation, query }, { limit, offset }) {
      const values: SqlValue[] = [now()];
      let where = '(expires_at IS NULL OR expires_at > $1)';
      if (conversation !== undefined) where += ` AND conversation_id = $${values.push(conversation)}`;
      if (query !== undefined) where += ` AND query_id = $${values.push(query)}`;

      const [counted] = await database.query<{ total: number }>(
        `SELECT COUNT(*) AS total FROM broker_messages WHERE ${where}`,
        values,
      );
      const page = [limit, offset, pageBytesMax].map((value) => `$${values.push(value)}`);
      const rows = await database.query<MessageRow>(
        `SELECT * FROM (
           SELECT *, SUM(bytes) OVER (ORDER BY sequence) AS so_far FROM (
             SELECT * FROM broker_messages WHERE ${where} ORDER BY sequence LIMIT ${page[0]} OFFSET ${page[1]}
           ) AS page
         ) AS summed WHERE so_far <= ${page[2]} ORDER BY sequence`,
        values,
      );
      return { records: rows.map(storedOf), total: counted?.total ?? 0 };
    },

    async newest(conversation) {
      const rows = await database.query<{ message: string }>(
        `SELECT message FROM (
           SELECT sequence, message, SUM(bytes) OVER (ORDER BY sequence DESC) AS so_far FROM (
             SELECT sequence, message, bytes FROM broker_messages
             WHERE conversation_id = $1 AND (expires_at IS NULL OR expires_at > $2)
             ORDER BY sequence DESC LIMIT $3
           ) AS newest
         ) AS summed WHERE so_far <= $4 ORDER BY sequence`,
        [conversation, now(), newestMessagesMax, newestBytesMax],
      );
      return rows.map(({ message }) => message);
    },

    removeQuery: (query) => remove(deleteMessages('query_id = $1'), [query], stepsPerRemoval),

    async sweep() {
      const nowMs = now();
      const removed = await remove(deleteMessages('expires_at <= $1'), [nowMs], stepsPerSweep);
      await remove(deleteKeys, [nowMs - keyAgeMaxMs], stepsPerSweep);
      await remove(deleteEmpty, [nowMs - keyAgeMaxMs], stepsPerSweep);
      return removed;
    },

    async check() {
      await database.query('SELECT 1 AS one');
    },
  };
}

async function touch(sql: Sql, conversation: string, nowMs: number): Promise<void> {
  await sql.query(
    `INSERT INTO broker_conversations (id, created_at, updated_at) VALUES ($1, $2, $2)
     ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at`,
    [conversation, nowMs],
  );
}

async function isNew(sql: Sql, conversation: string, key: string, nowMs: number): Promise<boolean> {
  const added = await sql.query(
    `INSERT INTO broker_appends (conversation_id, key, created_at) VALUES ($1, $2, $3)
     ON CONFLICT (conversation_id, key) DO NOTHING RETURNING key`,
    [conversation, key, nowMs],
  );
  return added.length > 0;
}

const deleteMessages = (condition: string): string =>
  `DELETE FROM broker_messages WHERE sequence IN (
     SELECT sequence FROM broker_messages WHERE ${condition} LIMIT $2
   ) RETURNING sequence`;

const deleteKeys = `DELETE FROM broker_appends WHERE (conversation_id, key) IN (
    SELECT conversation_id, key FROM broker_appends WHERE created_at <= $1 LIMIT $2
  ) RETURNING key`;

/** Conversations that were begun, or whose messages have gone, long ago. */
const deleteEmpty = `DELETE FROM broker_conversations WHERE id IN (
    SELECT id FROM broker_conversations AS c WHERE updated_at <= $1
      AND NOT EXISTS (SELECT 1 FROM broker_messages WHERE conversation_id = c.id) LIMIT $2
  ) RETURNING id`;

/** `nowAt` is the number of the value that holds the time. */
const conversationColumns = (nowAt: number): string =>
  `id, created_at, updated_at, (
     SELECT COUNT(*) FROM broker_messages
     WHERE conversation_id = broker_conversations.id AND (expires_at IS NULL OR expires_at > $${nowAt})
   ) AS messages`;

interface ConversationRow {
  readonly id: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly messages: number;
}

const conversationOf = ({ id, created_at, updated_at, messages }: ConversationRow): Conversation => ({
  id,
  createdAtMs: created_at,
  updatedAtMs: updated_at,
  messages,
});

interface MessageRow {
  readonly sequence: number;
  readonly conversation_id: string;
  readonly query_id: string;
  readonly message: string;
  readonly created_at: number;
}

const storedOf = ({ sequence, conversation_id, query_id, message, created_at }: MessageRow): Stored => ({
  sequence,
  conversation: conversation_id,
  query: query_id,
  message,
  createdAtMs: created_at,
});
