import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const subcommands = ['install', 'controller', 'worker', 'broker', 'dev', 'demo', 'replay'];

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'arkwright-cli-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the command as a person would, with an environment that holds nothing of this machine. */
async function arkwright(words: readonly string[], env: Record<string, string> = {}, program = main) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...words], {
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

describe('help', () => {
  test('names every subcommand', async () => {
    const { code, out } = await arkwright(['--help']);
    expect(code).toBe(0);
    for (const subcommand of subcommands) expect(out).toMatch(new RegExp(`^ {2}${subcommand} `, 'm'));
  });

  test.each(subcommands)('of %s shows an example that starts with the program', async (subcommand) => {
    const { code, out } = await arkwright([subcommand, '--help']);
    expect(code).toBe(0);
    expect(out).toContain(`arkwright ${subcommand}`);
    expect(out).toMatch(/^Examples?:\n( {2}\S.*\n)+/m);
  });

  test('says "kubectl arkwright" where kubectl runs it as a plugin', async () => {
    const plugin = join(folder, 'kubectl-arkwright');
    await symlink(main, plugin);
    const { out } = await arkwright(['--help'], {}, plugin);
    expect(out).toContain('Usage: kubectl arkwright');
    expect(out).toContain('kubectl arkwright install --tenant');
  });

  test('is what somebody gets who types nothing', async () => {
    const { err } = await arkwright([]);
    expect(err).toContain('Usage: arkwright');
  });
});

test('says its version', async () => {
  const { code, out } = await arkwright(['--version']);
  expect(code).toBe(0);
  expect(out.trim()).toMatch(/^\d+\.\d+\.\d+$/);
});

describe('wrong configuration is refused with one sentence and exit code 2', () => {
  test.each([
    [
      'a bad port',
      ['controller', '--health-port', 'x'],
      {},
      /--health-port \(ARKWRIGHT_HEALTH_PORT\) is "x"; give a port/,
    ],
    [
      'a bad number in the environment',
      ['worker'],
      { ARKWRIGHT_MAX_CACHED_WORKFLOWS: 'many' },
      /ARKWRIGHT_MAX_CACHED_WORKFLOWS/,
    ],
    ['no cluster', ['controller'], {}, /no cluster to talk to/],
    [
      'a kubeconfig that is not there',
      ['install', '--kubeconfig', '/does/not/exist'],
      {},
      /\/does\/not\/exist does not exist/,
    ],
    [
      'a database that is none',
      ['broker', '--database-url', 'mysql://canary-77@host/db'],
      {},
      /--database-url \(DATABASE_URL\) cannot be used; give an address such as postgresql:(?!.*canary)/,
    ],
    ['an unknown flag', ['controller', '--frobnicate'], {}, /unknown option '--frobnicate'/],
    ['an unknown command', ['frobnicate'], {}, /unknown command 'frobnicate'/],
    ['a bad tenant', ['install', '--tenant', 'Team_A'], {}, /Give the name of a namespace, or all/],
    ['a history that is not there', ['replay', 'nothing.json'], {}, /There is no file nothing.json/],
  ])('%s', async (_, words, env, sentence) => {
    const { code, out, err } = await arkwright(words, env);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toMatch(sentence);
    expect(err).not.toMatch(/^\s+at /m);
  });

  test('an unknown context, naming those there are', async () => {
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
        users: [{ name: 'u', user: { token: 'canary-77' } }],
        contexts: [{ name: 'staging', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'staging',
      }),
    );
    const { code, err } = await arkwright(['install', '--context', 'prod'], { KUBECONFIG: kubeconfig });
    expect(code).toBe(2);
    expect(err).toMatch(/no context prod; it has: staging/);
    expect(err).not.toContain('canary-77');
  });

  test('a history that is none', async () => {
    const file = join(folder, 'not-a-history.json');
    await writeFile(file, '{"events": "none"}');
    const { code, err } = await arkwright(['replay', file]);
    expect(code).toBe(2);
    expect(err).toMatch(/is not a history/);
  });
});

describe('an unexpected failure', () => {
  let words: readonly string[];
  beforeAll(async () => {
    const kubeconfig = join(folder, 'unreachable');
    const clusters = [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }];
    const contexts = [{ name: 'c', context: { cluster: 'c' } }];
    await writeFile(kubeconfig, JSON.stringify({ clusters, contexts, 'current-context': 'c' }));
    words = ['install', '--kubeconfig', kubeconfig];
  });

  test('exits with 1 and a sentence', async () => {
    const { code, err } = await arkwright(words);
    expect(code).toBe(1);
    expect(err).toMatch(/^arkwright: cannot look at CustomResourceDefinition \S+: .*ECONNREFUSED/);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  test('shows where it broke to those who ask for it', async () => {
    const { code, err } = await arkwright(words, { ARKWRIGHT_LOG_LEVEL: 'debug' });
    expect(code).toBe(1);
    expect(err).toMatch(/^\s+at /m);
  });
});

describe('replay', () => {
  const recorded = fileURLToPath(new URL('../histories/round-robin-ok.json', import.meta.url));

  test('shows what a recorded run decided, and that the code still decides the same', async () => {
    const { code, out } = await arkwright(['replay', recorded]);
    expect(code).toBe(0);
    expect(out).toMatch(/^round-robin-ok \(\d+ events\)\n {2}t001\.ann\.model\.1 {2}turn 1 · ann/);
    expect(out).toContain('The installed code decides the same.');
  });

  test('exits with 1 where the code decides otherwise, and says where', async () => {
    const other = join(folder, 'other.json');
    await writeFile(
      other,
      (await readFile(recorded, 'utf8')).replaceAll('t002.bob.model.1', 't002.eve.model.1'),
    );
    const { code, out } = await arkwright(['replay', other]);
    expect(code).toBe(1);
    expect(out).toMatch(/The installed code decides otherwise: .*t002\.(bob|eve)\.model\.1/s);
  });
});

test('install --print writes the objects and contacts nobody', async () => {
  const { code, out } = await arkwright(['install', '--print', '--tenant', 'team-a']);
  expect(code).toBe(0);
  expect(out).toContain('name: queries.ark.mckinsey.com');
  expect(out).toMatch(/kind: RoleBinding\nmetadata:\n {2}name: arkwright-tenant\n {2}namespace: team-a/);
});
