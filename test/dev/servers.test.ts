import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pinnedVersion } from '../../src/dev/build-server.ts';
import { findOrBuildServers, type ServerName } from '../../src/dev/servers.ts';

const names: readonly ServerName[] = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'temporal',
  'kubectl',
];

let folder: string;
let cache: string;
let bin: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arkwright-servers-'));
  cache = join(folder, 'cache');
  bin = join(folder, 'bin');
});
afterEach(() => rm(folder, { recursive: true }));

/** Looks for servers on a machine that has nothing but what the test put there. */
const find = (env: NodeJS.ProcessEnv = {}, report: (line: string) => void = () => undefined) =>
  findOrBuildServers({ cache, env: { PATH: bin, ...env }, report });

async function program(path: string, lines = ''): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${lines}\n`);
  await chmod(path, 0o755);
  return path;
}

const etcdVersion = await pinnedVersion({
  module: 'etcd',
  pin: 'go.etcd.io/etcd/server/v3',
  package: '',
  usualBuildMinutes: 0,
});

const outputOf = 'while [ $# -gt 1 ]; do [ "$1" = -o ] && output=$2; shift; done';

/** Builds nothing real: notes that it ran, and writes the wanted file slowly, piece by piece. */
const slowGo = `
${outputOf}
echo "$output" >> "$BUILDS"
echo '#!/bin/sh' > "$output"; /bin/sleep 0.2; echo 'echo whole' >> "$output"; /bin/chmod 755 "$output"`;

/** Fails in the middle of writing. */
const brokenGo = `
${outputOf}
echo half > "$output"; /bin/chmod 755 "$output"; echo "cannot find module" >&2; exit 1`;

const installGo = async () => {
  await program(join(bin, 'go'), slowGo);
  return { BUILDS: join(folder, 'builds') };
};

test('a server named in the environment is taken as it is', async () => {
  const etcd = await program(join(folder, 'my-etcd'));
  const env = { ...(await installGo()), ARKWRIGHT_ETCD: etcd };
  expect(await find(env)).toMatchObject({ etcd });
});

test('a wrong path in the environment is refused, not passed over', async () => {
  await expect(find({ ARKWRIGHT_ETCD: '/no/such/etcd' })).rejects.toThrow(
    'ARKWRIGHT_ETCD says that etcd is at /no/such/etcd, but no program can be run there.',
  );
});

test('what is nowhere is built once, and found the next time', async () => {
  const env = await installGo();
  const reported: string[] = [];
  const built = await find(env, (line) => reported.push(line));

  expect(new Set(Object.keys(built))).toEqual(new Set(names));
  for (const name of names) expect(await readFile(built[name], 'utf8')).toContain('whole');
  expect(reported).toContainEqual(expect.stringMatching(/^building etcd v3\..*about 0.5 min/));

  expect(await find(env)).toEqual(built);
  expect(await buildsIn(env.BUILDS)).toHaveLength(names.length);
});

test('a changed pin builds again', async () => {
  const env = await installGo();
  await find(env);
  await writeFile(join(cache, 'etcd.version'), 'v0.0.1\n');
  await find(env);

  expect((await readFile(join(cache, 'etcd.version'), 'utf8')).trim()).toBe(etcdVersion);
  expect(await buildsIn(env.BUILDS)).toHaveLength(names.length + 1);
});

test('two that build at once build each server once', async () => {
  const env = await installGo();
  const [one, other] = await Promise.all([find(env), find(env)]);

  expect(one).toEqual(other);
  expect(await buildsIn(env.BUILDS)).toHaveLength(names.length);
});

test('a failed build shows what Go said and leaves nothing that could be taken for a server', async () => {
  await program(join(bin, 'go'), brokenGo);
  await expect(find()).rejects.toThrow(/Could not build etcd v3[^]*cannot find module/);
  expect(await readdir(cache)).not.toContain('etcd');
  expect(await readdir(cache)).not.toContain('etcd.version');
  const { etcd } = await find(await installGo());
  expect(await readFile(etcd, 'utf8')).toContain('whole');
});

test('what a killed build left behind is removed by the next', async () => {
  const env = await installGo();
  await program(join(cache, 'etcd.building-4711'));
  await find(env);
  expect(await readdir(cache)).not.toContain('etcd.building-4711');
});

test('without Go the sentence says what to do', async () => {
  await expect(find()).rejects.toThrow(
    /etcd v3.* has to be built, which needs Go\. Install Go 1\.26 or later/,
  );
});

test.each([
  ['the pinned version', etcdVersion.slice(1), true],
  ['another version', '3.4.23', false],
])('an etcd on PATH of %s: used %s', async (_, version, used) => {
  const env = await installGo();
  const etcd = await program(join(bin, 'etcd'), `echo "etcd Version: ${version}"`);
  expect((await find(env)).etcd === etcd).toBe(used);
});

test('any kubectl on PATH will do, but none goes before what was built', async () => {
  const env = await installGo();
  const kubectl = await program(join(bin, 'kubectl'));
  expect((await find(env)).kubectl).toBe(kubectl);

  await rm(kubectl);
  const built = (await find(env)).kubectl;
  await program(kubectl);
  expect((await find(env)).kubectl).toBe(built);
});

const buildsIn = async (file: string) => (await readFile(file, 'utf8')).trim().split('\n');
