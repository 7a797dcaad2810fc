import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { loadClusterAccess } from '../../../src/adapters/kubernetes/kubeconfig.ts';

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'arkwright-kubeconfig-'))));
afterEach(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const one = `
clusters: [{ name: c, cluster: { server: "https://one:6443/", certificate-authority: ca.crt } }]
users: [{ name: u, user: { token: s3cret } }]
contexts:
  - { name: first, context: { cluster: c, user: u } }
  - { name: other, context: { cluster: c, user: u, namespace: elsewhere } }
current-context: first
`;
const two = `
clusters: [{ name: c, cluster: { server: "https://two" } }, { name: d, cluster: { server: "https://d" } }]
users: [{ name: v, user: { exec: { apiVersion: x, command: ./bin/login } } }]
contexts: [{ name: second, context: { cluster: d, user: v } }]
current-context: second
`;

test('names the cluster and the user of the current context, with paths from the file’s folder', async () => {
  await file('ca.crt', 'the authority');
  const access = loadClusterAccess({ kubeconfig: await file('config', one) });
  expect(access).toMatchObject({
    server: 'https://one:6443',
    namespace: 'default',
    user: { token: 's3cret' },
  });
  expect(String(access.ca)).toBe('the authority');
});

test('takes another context where one is asked for', async () => {
  await file('ca.crt', 'the authority');
  const kubeconfig = await file('config', one);
  expect(loadClusterAccess({ kubeconfig, context: 'other' }).namespace).toBe('elsewhere');
});

test('reads the files of KUBECONFIG as one: the first to name a thing wins, a missing file is none', async () => {
  await file('ca.crt', 'the authority');
  const KUBECONFIG = [join(folder, 'missing'), await file('one', one), await file('two', two)].join(
    delimiter,
  );
  expect(loadClusterAccess({}, { KUBECONFIG }).server).toBe('https://one:6443');

  const second = loadClusterAccess({ context: 'second' }, { KUBECONFIG });
  expect(second.server).toBe('https://d');
  expect(second.user.exec?.command).toBe(join(folder, 'bin/login'));
});

describe('says in a sentence what is wrong, and never what is secret:', () => {
  test.each([
    ['a context that is not there', one, 'nowhere', /has no context nowhere; it has: first, other/],
    ['no current context', 'clusters: []', undefined, /has no current-context/],
    ['a broken file', 'users: [{ token: s3cret', undefined, /is not valid YAML/],
    ['an empty file', '', undefined, /is empty/],
    [
      'a cluster that is not there',
      'contexts: [{ name: x, context: { cluster: c } }]\ncurrent-context: x',
      undefined,
      /context x .* names the cluster c, which is not there/,
    ],
  ])('%s', async (_, text, context, message) => {
    const kubeconfig = await file('config', text);
    const load = () => loadClusterAccess({ kubeconfig, context });
    expect(load).toThrow(message);
    expect(load).not.toThrow(/s3cret/);
  });

  test('a file that is not there', () => {
    expect(() => loadClusterAccess({ kubeconfig: join(folder, 'no') })).toThrow(/does not exist/);
  });

  test('nothing to be found anywhere', () => {
    expect(() => loadClusterAccess({}, { HOME: folder })).toThrow(/set KUBECONFIG to a kubeconfig file/);
  });
});
