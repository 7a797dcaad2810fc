import { reconcileQuery } from '../../src/controller/reconcile-query.ts';
import type { Story } from '../fakes/world.ts';
import { World, settle } from '../fakes/world.ts';

const refused = { type: 'TeamEmpty', message: 'team default/crew has no members configured' } as const;
const finished = { phase: 'error', message: 'x' } as const;
const key = { namespace: 'default', name: 'hello' };

const stories: Record<string, Story> = {
  plain: {},
  failing: { conduct: 'fails' },
  refused: { refused },
  early: { missingForMs: 2_000 },
  'too early': { missingForMs: 60_000 },
  'before those it selects': { nobodyForMs: 2_000 },
  'deleted while it runs': { conduct: 'waits for cancel', user: 'delete' },
  'deleted while it runs and does not listen': { conduct: 'ignores cancel', user: 'delete' },
  'deleted before it started': { deleted: true },
  'canceled while it runs': { conduct: 'waits for cancel', user: 'cancel' },
  'canceled before it started': { canceled: true },
  'canceled too late': { user: 'cancel', conduct: 'answers' },
  'removed by force while it runs': { conduct: 'waits for cancel', user: 'remove finalizer' },
  expired: { status: finished, spec: { ttl: '0s' } },
  'expired while it runs': { spec: { ttl: '0s' } },
  answered: { status: { phase: 'done' } },
  'lost by Temporal': { status: { phase: 'running', temporal: { workflowId: 'w', runId: 'r' } } },
};

describe.each(Object.entries(stories))('a Query that is %s', (_, story) => {
  test.each(['request', 'reply'] as const)('ends in the same world, whichever %s is lost', async (part) => {
    const calm = await settle(new World(story));

    for (let step = 0; step < calm.steps; step++) {
      const rough = await settle(new World(story).losing(step, part));
      expect({ step, state: rough.state }).toEqual({ step, state: calm.state });
    }
  });

  test('stays as it is when it is looked at again', async () => {
    const world = await settle(new World(story));
    const before = JSON.stringify(world.state);

    await settle(world);

    expect(JSON.stringify(world.state)).toBe(before);
    expect(world.runs.size).toBeLessThanOrEqual(1);
  });
});

// A property that compares two worlds is blind to a fault both share: plain examples beside it.

test('a Query that is answered at once is written once, with its answer', async () => {
  const world = await settle(new World({}));

  expect(world.statusWrites.map(({ phase }) => phase)).toEqual(['done']);
  expect(world.status).toMatchObject({
    phase: 'done',
    message: 'hello',
    responses: [{ target: { type: 'agent', name: 'bot' }, content: 'hello' }],
    duration: '1.5s',
    conditions: [{ type: 'Completed', status: 'True', reason: 'QuerySucceeded' }],
  });
});

test('a Query that takes longer is seen running half a second after its start', async () => {
  const world = await settle(new World({ conduct: 'ignores cancel' }));

  expect(world.status).toMatchObject({ phase: 'running', temporal: { runId: 'run-1' } });
  expect(world.now.getTime() - (world.runs.get('6f1c')?.startedAt.getTime() ?? 0)).toBe(500);
});

test('a Temporal whose clock is ahead delays nothing', async () => {
  const world = new World({ conduct: 'ignores cancel' });
  const startedAt = new Date(world.now.getTime() + 60_000);
  world.ports.runs.start = () => Promise.resolve({ state: 'open', runId: 'run-1', startedAt });

  await reconcileQuery(key, world.ports);

  expect(world.status.phase).toBe('running');
});

test.each(['done', 'error', 'canceled'] as const)(
  'a Query that is %s is not asked again, though Temporal has forgotten its run',
  async (phase) => {
    const status = { phase, temporal: { workflowId: 'w', runId: 'r' } };
    const world = await settle(new World({ status, canceled: true }));

    expect(world.runs.size).toBe(0);
    expect(world.status).toEqual(status);
  },
);

test('nothing is started for a refused Query, and its status says why', async () => {
  const world = await settle(new World({ refused }));

  expect(world.runs.size).toBe(0);
  expect(world.status).toMatchObject({ phase: 'error', error: refused.message });
});

test('a refusal does not hide a run whose start was carried out', async () => {
  const world = new World({ refused });
  await world.ports.runs.start({ namespace: 'default', name: 'hello', uid: '6f1c' }, {} as never, 'abc');

  await settle(world);

  expect(world.status.phase).toBe('done');
});

test('what is missing is waited for, but not for ever', async () => {
  const early = await settle(new World({ missingForMs: 2_000 }));
  const never = await settle(new World({ missingForMs: 3_600_000 }));

  expect(early.status.phase).toBe('done');
  expect(never.status).toMatchObject({ phase: 'error', error: 'unable to get default/bot' });
  expect(never.now.getTime() - early.now.getTime()).toBeLessThan(10_000);
});

test('a selector waits for somebody to select, but not for ever', async () => {
  const early = await settle(new World({ nobodyForMs: 2_000 }));
  const never = await settle(new World({ nobodyForMs: 3_600_000 }));

  expect(early.status).toMatchObject({ phase: 'done', snapshotHash: 'of 1' });
  expect(never.status).toMatchObject({ phase: 'done', snapshotHash: 'of 0' });
  expect(never.now.getTime() - early.now.getTime()).toBeLessThan(10_000);
});

test('a canceled Query is canceled for good', async () => {
  const world = await settle(new World({ conduct: 'waits for cancel', user: 'cancel' }));
  expect(world.status.phase).toBe('canceled');

  world.edit({ spec: { cancel: false } });
  await settle(world);

  expect(world.status.phase).toBe('canceled');
  expect(world.runs.size).toBe(1);
});

test('cancel changes nothing about a Query that was answered', async () => {
  const world = await settle(new World({}));

  world.edit({ spec: { cancel: true } });
  await settle(world);

  expect(world.status.phase).toBe('done');
});

test('a Query canceled from the start starts nothing', async () => {
  const world = await settle(new World({ canceled: true }));

  expect(world.runs.size).toBe(0);
  expect(world.status).toMatchObject({ phase: 'canceled', conditions: [{ reason: 'QueryCanceled' }] });
});

test.each([
  ['waits for cancel', 'canceled'],
  ['ignores cancel', 'error'],
] as const)('deletion ends a run that %s before the object goes', async (conduct, phase) => {
  const world = await settle(new World({ conduct, user: 'delete' }));

  expect(world.exists).toBe(false);
  expect([...world.runs.values()].map(({ closed }) => closed?.outcome.phase)).toEqual([phase]);
});

test('a Query that is being deleted and does not wait for us is left alone', async () => {
  const world = new World({ status: { phase: 'running' }, deleted: true });
  world.edit({ held: false });

  expect(await reconcileQuery(key, world.ports)).toBe('settled');
  expect(world.steps).toBe(0);
});

test('a Query removed by force takes its run with it', async () => {
  const world = await settle(new World({ conduct: 'waits for cancel', user: 'remove finalizer' }));

  expect([...world.runs.values()].map(({ closed }) => closed?.outcome.phase)).toEqual(['canceled']);
});

test('ttl deletes a finished Query and spares one that runs', async () => {
  const finishedOne = await settle(new World({ status: finished, spec: { ttl: '0s' } }));
  expect(finishedOne.exists).toBe(false);

  const running = new World({ conduct: 'waits for cancel', spec: { ttl: '0s' } });
  await settle(running);
  expect(running.status.phase).toBe('running');
});

test('a finished Query is looked at again when it expires', async () => {
  const world = new World({ status: finished, spec: { ttl: '1h' } });

  expect(await reconcileQuery(key, world.ports)).toEqual({ requeueAfterMs: 3_600_000 });
});

test('a finished Query without a ttl is kept for 720 hours from its creation', async () => {
  const world = new World({ status: finished });
  const left = (hours: number) => {
    world.now = new Date(world.created.getTime() + hours * 3_600_000);
    return reconcileQuery(key, world.ports);
  };

  expect(await left(719)).toEqual({ requeueAfterMs: 3_600_000 });
  expect(world.exists).toBe(true);
  await left(720);
  expect(world.state).toMatchObject({ query: { deletedAt: world.now } });
});
