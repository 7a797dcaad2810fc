/** A PostgreSQL for the tests of one file: the one in ARKWRIGHT_TEST_DATABASE_URL, or one started for them. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { claimPorts } from '../../src/dev/ports.ts';
import { waitFor } from '../e2e/stack.ts';

export interface PostgresqlServer {
  /** An empty database of its own for each call. */
  database(): Promise<string>;
  stop(): Promise<void>;
}

const given = process.env['ARKWRIGHT_TEST_DATABASE_URL'];

/** The folder of `initdb` and `postgres`; undefined where there is none. */
const programs = [
  ...(process.env['PATH'] ?? '').split(':'),
  ...globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed(),
].find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));

export const hasPostgresql = given !== undefined || programs !== undefined;

export async function startPostgresql(): Promise<PostgresqlServer> {
  const server = given ? { url: given, stop: async () => undefined } : await startOwn(programs ?? '');
  const names: string[] = [];

  async function asAdmin(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(statement);
    await client.end();
  }
  return {
    async database() {
      const name = `arkwright_test_${process.pid}_${names.length}`;
      await asAdmin(`CREATE DATABASE ${name}`);
      names.push(name);
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    async stop() {
      for (const name of names) await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
      await server.stop();
    },
  };
}

/** PostgreSQL refuses to run as root; `nobody` may do it. */
const nobody = 65_534;
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

async function startOwn(folder: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'arkwright-postgresql-'));
  if (user.uid !== undefined) chownSync(dir, nobody, nobody);
  const data = join(dir, 'data');
  const options = { ...user, cwd: dir, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  execFileSync(
    join(folder, 'initdb'),
    ['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8', '--no-sync'],
    { ...options, stdio: 'ignore' },
  );

  // Of the ports of a stack that nobody else is given while this one runs, any will do.
  const { ports, release } = await claimPorts({});
  const port = ports.broker;
  const child = spawn(
    join(folder, 'postgres'),
    ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', dir],
    { ...options, stdio: 'ignore' },
  );
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  await waitFor(() => answers(url), { what: 'PostgreSQL to answer' });
  return {
    url,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
      release();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}
