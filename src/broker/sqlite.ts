import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Database, Sql, SqlValue } from './database.ts';

/** How long a statement waits for another process that is writing to the same file. */
const busyTimeoutMs = 5_000;

/**
 * A file of its own, made where there is none. What a transaction has committed survives the death of this process and
 * of the machine. Throws where the file cannot be opened.
 */
export function openSqlite(file: string): Database {
  mkdirSync(dirname(file), { recursive: true });
  const connection = new DatabaseSync(file, { timeout: busyTimeoutMs });
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');

  const sql: Sql = {
    async query<R extends object>(text: string, values: readonly SqlValue[] = []) {
      const named = Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value]));
      return connection.prepare(text).all(named) as R[];
    },
  };

  // There is one connection: without turns, a statement could slip into a transaction that is not its own.
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<R>(work: () => Promise<R>): Promise<R> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

  return {
    dialect: 'sqlite',
    query: (text, values) => inTurn(() => sql.query(text, values)),
    transaction: (work) =>
      inTurn(async () => {
        connection.exec('BEGIN IMMEDIATE');
        try {
          const result = await work(sql);
          connection.exec('COMMIT');
          return result;
        } catch (error) {
          if (connection.isTransaction) connection.exec('ROLLBACK');
          throw error;
        }
      }),
    close: () => inTurn(async () => connection.close()),
  };
}
