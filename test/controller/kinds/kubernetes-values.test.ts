import type { KubernetesConnection } from '../../../src/adapters/kubernetes/connection.ts';
import { KubernetesError } from '../../../src/adapters/kubernetes/kubernetes-error.ts';
import { kubernetesValues } from '../../../src/controller/kinds/kubernetes-values.ts';

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
const metadata = { namespace: 'ns', name: 'keys', uid: 'u-1', resourceVersion: '7' };

/** Asks an API server that gives this answer; what is thrown is what it refuses with. Nothing but `request` is called. */
const valuesOf = (answer: object) =>
  kubernetesValues({
    request: async () => {
      if (answer instanceof Error) throw answer;
      return answer;
    },
  } as unknown as KubernetesConnection);
const failed = (status: number, detail: string) =>
  new KubernetesError('get it', { status, reason: 'x', detail, retryable: false });

describe('a Secret', () => {
  const ref = { namespace: 'ns', name: 'keys', key: 'token' };

  test('is used as it is, untrimmed, and known again by its version', async () => {
    const values = valuesOf({ metadata, data: { token: base64(' s3crét \n') } });
    expect(await values.secret(ref)).toEqual({ value: ' s3crét \n', version: 'u-1/7' });
  });

  test.each([
    [{ metadata }, 'key token not found in secret ns/keys'],
    [{ metadata, data: {} }, 'key token not found in secret ns/keys'],
    [failed(404, 'secrets "keys" not found'), 'failed to get secret ns/keys: secrets "keys" not found'],
    [failed(403, 'forbidden'), 'failed to get secret ns/keys: forbidden'],
  ])('of %j says %j', async (answer, why) => {
    await expect(valuesOf(answer).secret(ref)).rejects.toMatchObject({ name: 'Unbuildable', message: why });
  });

  test('that cannot be asked for may be there later', async () => {
    const broken = failed(500, 'etcd is away');
    await expect(valuesOf(broken).secret(ref)).rejects.toBe(broken);
  });
});

test('a ConfigMap and a Service may be empty', async () => {
  const key = { namespace: 'ns', name: 'it' };
  expect(await valuesOf({ metadata }).configMap(key)).toEqual({});
  expect(await valuesOf({ metadata, spec: {} }).servicePorts(key)).toEqual([]);
});
