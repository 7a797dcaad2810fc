/** Contract section 3.10, row by row. */
import { parameterSource, sourceOf } from '../../../src/api/canonical-values.ts';
import { resolveParameters, resolveValue } from '../../../src/controller/snapshot/resolve-values.ts';
import { readFrom } from './shelf.ts';

const read = readFrom({
  configMaps: { 'own/settings': { city: 'Oslo', blank: '' }, 'other/settings': { city: 'Rome' } },
  services: {
    'own/far': [
      { name: 'grpc', port: 9000 },
      { name: 'web', port: 8080 },
    ],
    'own/one': [{ port: 80 }],
    'own/closed': [],
    'other/far': [{ name: 'web', port: 81 }],
  },
})({ namespace: 'own', serviceAccount: 'default' });

const secretKeyRef = { name: 'keys', key: 'token' };
const inSecret = { secret: { namespace: 'own', ...secretKeyRef } };
const configMapKeyRef = { name: 'settings', key: 'city' };
const service = (more: object = {}) => ({ valueFrom: { serviceRef: { name: 'far', ...more } } });
const at = (address: string) => ({ value: `http://${address}` });

const valueOf = (source: object) => resolveValue(sourceOf(source), 'own', read);
const parameterOf = async (source: object) =>
  (await resolveParameters([{ name: 'p', source: parameterSource(source) }], 'own', read))['p'];

describe('a value source', () => {
  test.each([
    [{ value: 'v', valueFrom: { secretKeyRef } }, { value: 'v' }],
    [{ value: '', valueFrom: { secretKeyRef, configMapKeyRef } }, inSecret],
    [{ valueFrom: { secretKeyRef: { ...secretKeyRef, optional: true } } }, inSecret],
    [{ valueFrom: { configMapKeyRef, ...service().valueFrom } }, { value: 'Oslo' }],
    [{ valueFrom: { configMapKeyRef: { name: 'settings', key: 'blank' } } }, { value: '' }],
    [service(), at('far.own.svc.cluster.local:9000')],
    [service({ name: 'one' }), at('one.own.svc.cluster.local:80')],
    [service({ port: 'web' }), at('far.own.svc.cluster.local:8080')],
    [service({ port: '8080' }), at('far.own.svc.cluster.local:8080')],
    [service({ namespace: 'other', port: 'web' }), at('far.other.svc.cluster.local:81')],
    [service({ namespace: '' }), at('far.own.svc.cluster.local:9000')],
    [service({ path: '' }), at('far.own.svc.cluster.local:9000')],
    [service({ path: 'mcp/' }), at('far.own.svc.cluster.local:9000/mcp')],
    [service({ path: '/' }), at('far.own.svc.cluster.local:9000/')],
    [service({ path: '//v1/./x/../api' }), at('far.own.svc.cluster.local:9000/v1/api')],
    [service({ path: '../../v1' }), at('far.own.svc.cluster.local:9000/v1')],
  ])('%j is %j', async (source, value) => {
    expect(await valueOf(source)).toEqual(value);
  });

  test.each([
    [{ valueFrom: { secretKeyRef: { name: '', key: 'k' } } }, 'secret name is required'],
    [{ valueFrom: { configMapKeyRef: { name: '', key: 'k' } } }, 'configMap name is required'],
    [
      { valueFrom: { configMapKeyRef: { name: 'none', key: 'k', optional: true } } },
      'failed to get configMap own/none: configmaps "none" not found',
    ],
    [
      { valueFrom: { configMapKeyRef: { name: 'settings', key: 'none', optional: true } } },
      'key none not found in configMap own/settings',
    ],
    [
      { valueFrom: { configMapKeyRef: { name: 'settings', key: 'constructor' } } },
      'key constructor not found in configMap own/settings',
    ],
    [service({ name: 'none' }), 'failed to get service own/none: services "none" not found'],
    [service({ name: 'closed' }), 'service own/closed has no ports'],
    [service({ port: 'none' }), 'port none not found in service own/far'],
    [service({ port: '1' }), 'port 1 not found in service own/far'],
  ])('%j says %j', async (source, why) => {
    await expect(valueOf(source)).rejects.toThrow(new Error(why));
  });
});

describe('a parameter', () => {
  test.each([
    [{ value: 'v', valueFrom: { secretKeyRef } }, { value: 'v' }],
    [{ value: '', valueFrom: { secretKeyRef, configMapKeyRef } }, { value: 'Oslo' }],
    [{ valueFrom: { secretKeyRef } }, inSecret],
  ])('%j is %j', async (source, value) => {
    expect(await parameterOf(source)).toEqual(value);
  });

  test.each([
    [
      { valueFrom: { configMapKeyRef: { name: 'none', key: 'k', optional: true } } },
      'failed to get ConfigMap none: configmaps "none" not found',
    ],
    [
      { valueFrom: { configMapKeyRef: { name: 'settings', key: 'none', optional: true } } },
      'key none not found in ConfigMap settings',
    ],
    [{ valueFrom: { secretKeyRef: { name: '', key: 'k' } } }, 'secret name is required'],
  ])('%j says %j', async (source, why) => {
    await expect(parameterOf(source)).rejects.toThrow(new Error(`failed to resolve parameter p: ${why}`));
  });

  test('that is given twice is what is said last', async () => {
    const twice = ['one', 'two'].map((value) => ({ name: 'p', source: parameterSource({ value }) }));
    expect(await resolveParameters(twice, 'own', read)).toEqual({ p: { value: 'two' } });
  });
});
