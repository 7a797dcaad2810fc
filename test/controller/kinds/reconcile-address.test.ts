import type { AddressStatus } from '../../../src/api/values.ts';
import { reconcileEvaluator } from '../../../src/controller/kinds/reconcile-evaluator.ts';
import { reconcileExecutionEngine } from '../../../src/controller/kinds/reconcile-execution-engine.ts';
import { reconcileMemory } from '../../../src/controller/kinds/reconcile-memory.ts';
import { key, play } from './played.ts';

const memoryEvent = (message: string) => ({
  component: 'memory-controller',
  reason: 'AddressResolved',
  message,
});
const engineEvent = (message: string) => ({
  component: 'executionengine-controller',
  reason: 'AddressResolved',
  message,
});

/** The words of contract 3.6, 6.2 and 7.2. */
const kinds = [
  {
    kind: 'Memory',
    reconcile: reconcileMemory,
    more: {},
    resolving: 'Resolving memory address',
    resolved: 'Memory address resolved and validated',
    empty: 'Invalid address: address cannot be empty',
    whenResolved: (address: string) => [memoryEvent(`Successfully resolved address: ${address}`)],
    whenFailed: () => [],
  },
  {
    kind: 'ExecutionEngine',
    reconcile: reconcileExecutionEngine,
    more: { type: 'langchain' },
    resolving: 'Resolving execution engine address',
    resolved: 'ExecutionEngine address resolved successfully',
    empty: 'Failed to resolve address: address cannot be empty',
    whenResolved: (address: string) => [engineEvent(`Address resolved: ${address}`)],
    whenFailed: (message: string) => [
      { ...engineEvent(message), type: 'Warning', reason: 'AddressResolutionFailed' },
    ],
  },
  {
    kind: 'Evaluator',
    reconcile: reconcileEvaluator,
    more: {},
    resolving: 'Resolving evaluator address',
    resolved: 'Evaluator address resolved successfully',
    empty: 'Failed to resolve address: address cannot be empty',
    whenResolved: () => [],
    whenFailed: () => [],
  },
];

const fromService = { valueFrom: { serviceRef: { name: 'svc', port: 'http', path: 'v1/' } } };
const fromSecret = { valueFrom: { secretKeyRef: { name: 's', key: 'k' } } };

describe.each(kinds)('$kind', ({ reconcile, more, resolving, resolved, empty, whenResolved, whenFailed }) => {
  const playAt = (address: object) => play<AddressStatus>({ ...more, address });

  test('is resolving, then ready, and says so once', async () => {
    const world = playAt({ value: 'http://a' });
    expect(await reconcile(key, world.ports)).toEqual({ requeueAfterMs: 60_000 });
    expect(world.writes).toEqual([
      { phase: 'running', message: resolving },
      { phase: 'ready', message: resolved, lastResolvedAddress: 'http://a' },
    ]);
    await reconcile(key, world.ports);
    expect(world.writes).toHaveLength(2);
    expect(world.events).toEqual(whenResolved('http://a'));
  });

  test.each([
    [{}, 'value source must have either value or valueFrom specified'],
    [{ valueFrom: {} }, 'no valid valueFrom source specified'],
    [{ valueFrom: { secretKeyRef: { name: '', key: 'k' } } }, 'secret name is required'],
    [fromSecret, 'failed to get secret default/s: secrets "s" not found'],
    [
      { valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } },
      'failed to get configMap default/c: configmaps "c" not found',
    ],
    [fromService, 'failed to get service default/svc: services "svc" not found'],
  ])('with the address %j is in error', async (address, why) => {
    const world = playAt(address);
    await reconcile(key, world.ports);
    const message = `Failed to resolve address: ${why}`;
    expect(world.status).toEqual({ phase: 'error', message });

    await reconcile(key, world.ports);
    expect(world.writes).toHaveLength(2);
    expect(world.events).toEqual(whenFailed(message));
  });

  test('with an empty address is in error', async () => {
    const world = playAt(fromSecret);
    world.writeSecret('s', { k: '' });
    await reconcile(key, world.ports);
    expect(world.status).toMatchObject({ phase: 'error', message: empty });
  });

  test('heals when what it names is there, and follows it', async () => {
    const world = playAt(fromService);
    const next = await reconcile(key, world.ports);
    expect(next).toEqual({ requeueAfterMs: 10_000 });
    world.held.services['svc'] = [{ name: 'http', port: 80 }];
    await reconcile(key, world.ports);
    const first = 'http://svc.default.svc.cluster.local:80/v1';
    expect(world.status).toEqual({ phase: 'ready', message: resolved, lastResolvedAddress: first });

    world.held.services['svc'] = [{ name: 'http', port: 81 }];
    await reconcile(key, world.ports);
    expect(world.status.lastResolvedAddress).toBe(first.replace('80', '81'));
    expect(world.events.filter(({ type }) => type !== 'Warning')).toEqual([
      ...whenResolved(first),
      ...whenResolved(first.replace('80', '81')),
    ]);
  });

  test('keeps the last address while it has none', async () => {
    const world = playAt(fromService);
    world.held.services['svc'] = [{ name: 'http', port: 80 }];
    await reconcile(key, world.ports);
    delete world.held.services['svc'];
    await reconcile(key, world.ports);
    expect(world.status).toMatchObject({
      phase: 'error',
      lastResolvedAddress: 'http://svc.default.svc.cluster.local:80/v1',
    });
  });

  test('does not show an address from a Secret', async () => {
    const world = playAt(fromSecret);
    world.writeSecret('s', { k: 'http://user:canary@a' });
    await reconcile(key, world.ports);
    expect(world.status.phase).toBe('ready');
    expect(JSON.stringify([world.writes, world.events])).not.toContain('canary');
  });

  test('that is gone is nothing to do', async () => {
    const world = playAt({ value: 'http://a' });
    world.remove();
    expect(await reconcile(key, world.ports)).toBe('settled');
  });

  test('waits for what heals by itself, and says nothing', async () => {
    const world = playAt(fromService);
    const values = { ...world.ports.values, servicePorts: () => Promise.reject(new Error('no API server')) };
    await expect(reconcile(key, { ...world.ports, values })).rejects.toThrow('no API server');
    expect(world.status.phase).toBe('running');
  });
});

test.each([
  [{ matchExpressions: [{ key: 'a', operator: 'Like', values: ['b'] }] }, '"Like"'],
  [{ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'toString' }] }, '"toString"'],
])('an Evaluator whose selector is %j is in error', async (labels, operator) => {
  const selector = { resourceType: 'Query', ...labels };
  const world = play<AddressStatus>({ address: { value: 'http://a' }, selector });
  await reconcileEvaluator(key, world.ports);
  const message = `Failed to process selector: ${operator} is not a valid label selector operator`;
  expect(world.status).toEqual({ phase: 'error', message });
});

test('an ExecutionEngine named a2a is refused', async () => {
  const world = play<AddressStatus>({ type: 'langchain', address: { value: 'http://a' } });
  world.change({ name: 'a2a' });
  await reconcileExecutionEngine(key, world.ports);
  expect(world.status).toMatchObject({
    phase: 'error',
    message: "execution engine name 'a2a' is reserved for A2A servers",
  });
});
