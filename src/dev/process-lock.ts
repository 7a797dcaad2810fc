import { readFile, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

export type ProcessLock = { release(): void };

/** `busy` carries the pid of the holder, if it has written it yet. */
export type LockResult = { readonly lock: ProcessLock } | { readonly busy: { readonly pid?: number } };

/**
 * Takes the lock at this path, or says who has it.
 *
 * The lock is SQLite's own on an empty database, which the kernel drops when the process ends in whatever way: there is
 * no stale lock to recognise, and so no moment when two processes both take one over. The file beside it only names
 * the holder for people.
 */
export async function tryLock(path: string): Promise<LockResult> {
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw new Error(`Could not lock ${path}`, { cause: error });
    return { busy: await holder(path) };
  }
  await writeFile(holderFile(path), `${process.pid}\n`);
  return { lock: { release: () => database.close() } };
}

const holderFile = (path: string) => `${path}.pid`;

async function holder(path: string): Promise<{ pid?: number }> {
  const pid = Number(await readFile(holderFile(path), 'utf8').catch(() => ''));
  return pid > 0 ? { pid } : {};
}

const sqliteBusy = 5;
const isBusy = (error: unknown) => (error as { errcode?: number }).errcode === sqliteBusy;
