import type { Logger } from '../adapters/telemetry/logger.ts';
import type { Database } from './database.ts';
import { migrate } from './migrations.ts';

export type Storage = { readonly file: string } | { readonly databaseUrl: string };

/** The database with its tables up to date. Rejects with a sentence that names it, without its password. */
export async function openDatabase(storage: Storage, logger: Logger): Promise<Database> {
  let database: Database | undefined;
  try {
    database = await connect(storage, logger);
    await migrate(database);
    return database;
  } catch (error) {
    await database?.close().catch(() => undefined);
    throw new Error(`cannot open ${shown(storage)}`, { cause: error });
  }
}

/** Each is loaded only where it is used. */
async function connect(storage: Storage, logger: Logger): Promise<Database> {
  if ('file' in storage) {
    const { openSqlite } = await import('./sqlite.ts');
    return openSqlite(storage.file);
  }
  const { openPostgresql } = await import('./postgresql.ts');
  return openPostgresql(storage.databaseUrl, (error) =>
    logger.warn({ error: error.message }, 'lost an idle connection to the database'),
  );
}

function shown(storage: Storage): string {
  if ('file' in storage) return `the SQLite file ${storage.file}`;
  const { host, pathname } = new URL(storage.databaseUrl);
  return `the PostgreSQL database ${host}${pathname}`;
}
