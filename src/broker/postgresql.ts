import pg from 'pg';
import type { Database, Sql, SqlValue } from './database.ts';

const connectionsMax = 25;
const connectTimeoutMs = 5_000;
const idleTimeoutMs = 5 * 60_000;
const statementTimeoutMs = 10_000;
/** Longer than the server's own limit, whose message says more. */
const answerTimeoutMs = 15_000;

/** A pool of connections to PostgreSQL, opened as they are needed. A lost one fails its statement and is replaced. */
export function openPostgresql(url: string, onLost: (error: Error) => void): Database {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'arkwright-broker',
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: answerTimeoutMs,
    keepAlive: true,
    types: { getTypeParser: parserOf },
  });
  // Nobody waits for an idle connection; without a listener its end would be the end of the process.
  pool.on('error', onLost);

  return {
    dialect: 'postgresql',
    ...sqlOn(pool),
    async transaction(work) {
      const connection = await pool.connect();
      let broken: Error | undefined;
      try {
        await connection.query('BEGIN');
        const result = await work(sqlOn(connection));
        await connection.query('COMMIT');
        return result;
      } catch (error) {
        await connection.query('ROLLBACK').catch((lost: Error) => (broken = lost));
        throw error;
      } finally {
        connection.release(broken);
      }
    },
    close: () => pool.end(),
  };
}

const sqlOn = (connection: pg.Pool | pg.PoolClient): Sql => ({
  async query<R extends object>(text: string, values: readonly SqlValue[] = []) {
    const { rows } = await connection.query<R>(text, [...values]);
    return rows;
  },
});

type TypeId = Parameters<typeof pg.types.getTypeParser>[0];

/** 64-bit numbers come as text unless somebody says that they fit (database.ts). */
const wholeNumbers: ReadonlySet<TypeId> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

const parserOf = ((oid: TypeId, format?: 'text') =>
  wholeNumbers.has(oid) ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser;
