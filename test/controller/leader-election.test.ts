import { setTimeout as sleep } from 'node:timers/promises';
import { createResources } from '../../src/adapters/kubernetes/resources.ts';
import { becomeLeader, instanceName } from '../../src/controller/leader-election.ts';
import type { Leadership, LeaderElectionOptions } from '../../src/controller/leader-election.ts';
import { waitUntil } from '../../src/dev/wait-until.ts';
import { startCluster } from '../adapters/kubernetes/cluster.ts';
import type { Cluster } from '../adapters/kubernetes/cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.stop());

const patienceMs = 120_000;
const leases = () =>
  createResources(cluster.connection, {
    group: 'coordination.k8s.io',
    version: 'v1',
    plural: 'leases',
    kind: 'Lease',
  });

let leaders: Leadership[] = [];
let count = 0;
let name: string;
beforeEach(() => {
  leaders = [];
  name = `lease-${count++}`;
});
afterEach(() => Promise.all(leaders.map((leader) => leader.resign())));

/** No machine is so busy that a leader with these times loses the lease without a cause. */
const times = { leaseMs: 90_000, renewMsMax: 80_000, retryMs: 500 };

async function lead(
  instance: string,
  more: Partial<LeaderElectionOptions> = {},
  connection = cluster.connection,
) {
  const leader = await becomeLeader(connection, { namespace: 'default', name, instance, ...times, ...more });
  leaders.push(leader);
  return leader;
}

test('of three candidates one leads at a time, and the next follows as soon as it resigns', async () => {
  const order: string[] = [];
  const led: Leadership[] = [];
  const races = ['a', 'b', 'c'].map(async (instance) => {
    const leader = await lead(instance);
    order.push(instance);
    led.push(leader);
  });

  for (let turn = 1; turn <= 3; turn++) {
    await waitUntil(() => led.length === turn, { what: `leader ${turn}`, timeoutMs: patienceMs });
    const current = led[turn - 1];
    // Long enough for two who think that they lead to show themselves.
    await sleep(2 * times.retryMs);
    expect(led).toHaveLength(turn);
    expect(current?.holds()).toBe(true);
    await current?.resign();
  }
  await Promise.all(races);
  expect(order.toSorted()).toEqual(['a', 'b', 'c']);
});

test('waits until a leader that went silent must have stopped, then follows', async () => {
  const { connection, wire } = await cluster.overWire();
  const short = { leaseMs: 6_000, renewMsMax: 4_000 };
  const silent = await lead('silent', short, connection);
  wire.block(true);

  const lostMs = new Promise<number>((resolve) =>
    silent.lost.addEventListener('abort', () => resolve(performance.now())),
  );
  const follower = lead('follower', short).then(() => performance.now());
  const [stopped, followed] = await Promise.all([lostMs, follower]);
  expect(stopped).toBeLessThan(followed);
  expect(silent.holds()).toBe(false);
  expect((silent.lost.reason as Error).message).toContain('could not be renewed for 4000 ms');
});

test('takes over at once from an earlier process in the same slot, and that one notices', async () => {
  const earlier = await lead('slot');
  const holders: unknown[] = [];
  const later = await lead('slot', { onWaiting: (why) => holders.push(why) });
  expect(holders).toEqual([]);

  await waitUntil(() => earlier.lost.aborted, {
    what: 'the earlier process to notice',
    timeoutMs: patienceMs,
  });
  expect((earlier.lost.reason as Error).message).toContain('another process has the lease');
  expect(later.holds()).toBe(true);
});

test('goes on leading when somebody labels the lease, and when the API server is killed for less than a lease', async () => {
  const leader = await lead('steady');
  await leases().mergePatch({ namespace: 'default', name }, { metadata: { labels: { seen: 'yes' } } });
  await cluster.killApiServer();
  const before = await leases().get({ namespace: 'default', name });
  await waitUntil(
    async () =>
      (await leases().get({ namespace: 'default', name })).metadata.resourceVersion !==
      before.metadata.resourceVersion,
    { what: 'a renewal', timeoutMs: patienceMs },
  );
  expect(leader.lost.aborted).toBe(false);
});

test('gives up waiting when it is told to', async () => {
  await lead('holder');
  const ends = new AbortController();
  const waiting = lead('other', { signal: ends.signal });
  ends.abort(new Error('stopping'));
  await expect(waiting).rejects.toThrow('stopping');
});

test('refuses times in which two could lead', async () => {
  await expect(lead('x', { leaseMs: 5_000, renewMsMax: 5_000 })).rejects.toThrow('retry < renew < lease');
});

test('is named for its slot where there is one, and by chance where nothing promises one', () => {
  expect(instanceName({ ARKWRIGHT_INSTANCE: 'controller-1', KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toBe(
    'controller-1',
  );
  expect(instanceName({ KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toBe(
    instanceName({ KUBERNETES_SERVICE_HOST: 'x' }),
  );
  expect(instanceName({})).not.toBe(instanceName({}));
});
