import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Verb } from '../../../src/adapters/kubernetes/connection.ts';
import { KubernetesError } from '../../../src/adapters/kubernetes/kubernetes-error.ts';
import { send, startStub, status } from './stub-server.ts';
import type { Answer, StubServer } from './stub-server.ts';

const path = '/api/v1/namespaces/default/configmaps/one';

let running: StubServer | undefined;
afterEach(() => running?.stop());

async function start(answer: Answer): Promise<StubServer> {
  running = await startStub(answer);
  return running;
}

async function served(answer: Answer) {
  const stub = await start(answer);
  return { stub, connection: await stub.connectAs({ token: 'valid' }) };
}

const failure = async (promise: Promise<unknown>): Promise<KubernetesError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof KubernetesError) return error;
  throw new Error(`not a KubernetesError: ${String(error)}`);
};

describe('a refusal', () => {
  test('is told with the verb, the object, and the server’s own words', async () => {
    const { connection } = await served((response) =>
      send(response, 404, status(404, 'NotFound', 'configmaps "one" not found')),
    );
    const error = await failure(connection.request('GET', path, { what: 'get configmaps default/one' }));
    expect(error).toMatchObject({
      message: 'cannot get configmaps default/one: configmaps "one" not found',
      status: 404,
      reason: 'NotFound',
      detail: 'configmaps "one" not found',
      retryable: false,
    });
  });

  test('is understood from a proxy, too, which knows no Status', async () => {
    const { connection } = await served((response) => response.writeHead(403).end('<html>no</html>'));
    expect(await failure(connection.request('GET', path))).toMatchObject({
      reason: 'Forbidden',
      status: 403,
    });
  });

  test('that repeating cannot change is not repeated', async () => {
    const { stub, connection } = await served((response) =>
      send(response, 409, status(409, 'Conflict', 'changed')),
    );
    await failure(connection.request('PUT', path, { body: {} }));
    expect(stub.seen).toHaveLength(1);
  });
});

describe('a passing trouble', () => {
  const troubles: Record<string, Answer> = {
    'an overload': (response) => send(response, 503, status(503, 'ServiceUnavailable', 'starting')),
    'an internal error': (response) => send(response, 500, status(500, 'InternalError', 'oops')),
    'a reset': (response) => response.socket?.resetAndDestroy(),
    'half an answer': (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"kind":');
      setImmediate(() => response.destroy());
    },
  };

  describe.each(Object.entries(troubles))('%s', (_, trouble) => {
    const first: Answer = (response, count, request) =>
      count <= 2 ? trouble(response, count, request) : send(response, 200, { kind: 'ConfigMap' });

    test.each<Verb>(['GET', 'PATCH', 'PUT', 'DELETE'])('is overcome by %s', async (verb) => {
      const { stub, connection } = await served(first);
      expect(await connection.request(verb, path)).toEqual({ kind: 'ConfigMap' });
      expect(stub.seen).toHaveLength(3);
    });

    test('is told at once to who creates: the first try may have succeeded', async () => {
      const { stub, connection } = await served(first);
      expect((await failure(connection.request('POST', path, { body: {} }))).retryable).toBe(true);
      expect(stub.seen).toHaveLength(1);
    });
  });

  test('is not tried for ever', async () => {
    const { stub, connection } = await served((response) => send(response, 500, {}));
    const error = await failure(connection.request('GET', path, { attemptsMax: 3 }));
    expect(error).toMatchObject({ status: 500, retryable: true });
    expect(stub.seen).toHaveLength(3);
  });

  test('that says when to come back is obeyed, also by who creates', async () => {
    const { stub, connection } = await served((response, count) =>
      count === 1
        ? send(response, 429, {}, { 'retry-after': '1' })
        : send(response, 201, { kind: 'ConfigMap' }),
    );
    const startedMs = performance.now();
    await connection.request('POST', path, { body: {} });
    expect(performance.now() - startedMs).toBeGreaterThan(990);
    expect(stub.seen).toHaveLength(2);
  });

  test('that wants more patience than a call has is the caller’s', async () => {
    const { stub, connection } = await served((response) => send(response, 429, {}, { 'retry-after': '60' }));
    expect((await failure(connection.request('GET', path))).retryAfterMs).toBe(60_000);
    expect(stub.seen).toHaveLength(1);
  });

  test('of a server that never answers ends in time', async () => {
    const stub = await start(() => {});
    const connection = await stub.connectAs({}, { requestTimeoutMs: 1_000 });
    const error = await failure(connection.request('GET', path, { attemptsMax: 1 }));
    expect(error).toMatchObject({ reason: 'TimedOut', retryable: true });
  });
});

test('a caller that gives up is told its own reason, in a call and between two', async () => {
  const { connection } = await served((response, count) => count === 1 && send(response, 500, {}));
  const ends = new AbortController();
  const asked = connection.request('GET', path, { signal: ends.signal });
  const reason = new Error('no longer wanted');
  ends.abort(reason);
  await expect(asked).rejects.toBe(reason);
  await expect(connection.request('GET', path, { signal: ends.signal })).rejects.toBe(reason);
});

const onlyFor =
  (token: () => string): Answer =>
  (response, _, { headers }) =>
    headers.authorization === `Bearer ${token()}`
      ? send(response, 200, { kind: 'ConfigMap' })
      : send(response, 401, status(401, 'Unauthorized', 'Unauthorized'));

const plugin = (script: string) => ({
  exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] },
});
const credential = (fields: object) => JSON.stringify({ kind: 'ExecCredential', status: fields });

describe('credentials', () => {
  test('that rotate on disk are read again when they are refused', async () => {
    let valid = 'first';
    const stub = await start(onlyFor(() => valid));
    const tokenFile = join(stub.folder, 'token');
    await writeFile(tokenFile, 'first\n');
    const connection = await stub.connectAs({ tokenFile });
    await connection.request('GET', path);

    valid = 'second';
    await writeFile(tokenFile, 'second\n');
    await connection.request('GET', path);
    expect(stub.seen.map(({ authorization }) => authorization)).toEqual([
      'Bearer first',
      'Bearer first',
      'Bearer second',
    ]);
  });

  test('that stay refused are an error, after one more try', async () => {
    const { stub, connection } = await served(onlyFor(() => 'another'));
    expect(await failure(connection.request('GET', path))).toMatchObject({ status: 401, retryable: false });
    expect(stub.seen).toHaveLength(2);
  });

  test('of a plugin are asked for once while they last, however many need them', async () => {
    const stub = await start(onlyFor(() => 'from-a-plugin'));
    const log = join(stub.folder, 'log');
    const said = credential({ token: 'from-a-plugin', expirationTimestamp: '2999-01-01T00:00:00Z' });
    const connection = await stub.connectAs(plugin(`echo run >>${log}; echo '${said}'`));
    await Promise.all(Array.from({ length: 5 }, () => connection.request('GET', path)));
    await connection.request('GET', path);

    expect(await readFile(log, 'utf8')).toBe('run\n');
  });

  test('of a plugin that fails are an error with its words and without its output', async () => {
    const stub = await start(() => {});
    const connection = await stub.connectAs(plugin('echo s3cret; echo please log in >&2; exit 3'));
    const error = await failure(connection.request('GET', path, { attemptsMax: 1 }));
    expect(error).toMatchObject({ reason: 'NoCredentials', retryable: true });
    expect(error.message).toContain('please log in');
    expect(error.message).not.toContain('s3cret');
  });

  test('of a legacy auth provider still work', async () => {
    const stub = await start(onlyFor(() => 'old-style'));
    const tokenFile = join(stub.folder, 'token');
    await writeFile(tokenFile, 'old-style\n');
    const connection = await stub.connectAs({
      'auth-provider': { name: 'tokenFile', config: { tokenFile } },
    });
    expect(await connection.request('GET', path)).toEqual({ kind: 'ConfigMap' });
  });
});

test('a stream hands over whole lines, however they were cut, and ends with the server', async () => {
  const lines = ['{"n":1}', '{"text":"käse 🧀"}', '{"n":3}'];
  const bytes = Buffer.from(`${lines.join('\n')}\n\n`);
  const { connection } = await served((response) => {
    response.writeHead(200);
    void (async () => {
      for (const byte of bytes) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    })();
  });
  const heard: string[] = [];
  await connection.stream(path, { silenceMsMax: 60_000, onLine: (line) => heard.push(line) });
  expect(heard).toEqual(lines);
});
