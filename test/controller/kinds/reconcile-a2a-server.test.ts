import type { A2aServerStatus } from '../../../src/api/a2a-server.ts';
import type { AgentCard, ServerAddress } from '../../../src/controller/kinds/ports.ts';
import { reconcileA2aServer } from '../../../src/controller/kinds/reconcile-a2a-server.ts';
import { key, play, told } from './played.ts';

const spec = { address: { value: 'http://travel' } };
const card: AgentCard = { name: 'Travel_Agent Pro', description: 'Plans trips.', skills: [{ id: 's' }] };

/** An A2AServer, `default/it`, that shows the card it is told to. */
function playServer(written: object = spec) {
  const world = play<A2aServerStatus>(written);
  const asked: ServerAddress[] = [];
  let show: () => AgentCard = () => card;
  const a2a = {
    async card(server: ServerAddress) {
      asked.push(server);
      return show();
    },
  };
  return {
    world,
    asked,
    look: () => reconcileA2aServer(key, { ...world.ports, a2a }),
    shows(change: Partial<AgentCard>): void {
      show = () => ({ ...card, ...change });
    },
    fails(message: string): void {
      show = () => {
        throw new Error(message);
      };
    },
  };
}

const discovering = 'Discovering=True DiscoveringAgents: Discovering agents from A2A server';
const ready = [
  'Discovering=False DiscoveryComplete: Agent discovery completed',
  'Ready=True AgentDiscovered: Successfully discovered agent',
];
const failed = [discovering, 'Ready=False DiscoveryFailed: Server not ready due to discovery failure'];
const event = (reason: string, message: string) => ({ component: 'a2aserver-controller', reason, message });

test('a server is initialized, then its agent is an Agent', async () => {
  const { world, asked, look } = playServer();
  expect(await look()).toEqual({ requeueAfterMs: 60_000 });

  expect(world.writes.map(told).map(([first]) => first)).toEqual([
    'Discovering=True StartingDiscovery: Starting agent discovery process',
    'Discovering=True StartingDiscovery: Starting agent discovery process',
    discovering,
    ready[0],
  ]);
  expect(told(world.writes[0] ?? {})[1]).toBe('Ready=False Initializing: A2AServer is being initialized');
  expect(told(world.status)).toEqual(ready);
  expect(world.status.lastResolvedAddress).toBe('http://travel');
  expect(asked).toEqual([{ address: 'http://travel', headers: [] }]);
  expect(world.events).toEqual([
    event('AgentCreated', 'Agent created: travel-agent-pro with 1 skills'),
    event('AgentDiscovery', 'agent discovered'),
  ]);
  expect(world.offers.all.get('travel-agent-pro')).toMatchObject({
    labels: { 'a2a.server/name': 'it' },
    annotations: {
      'a2a.server/name': 'it',
      'a2a.server/address': 'http://travel',
      'a2a.server/skills': '[{"id":"s"}]',
    },
    owners: [{ apiVersion: 'ark.mckinsey.com/v1prealpha1', kind: 'A2AServer', name: 'it', uid: 'a-uid' }],
    spec: {
      description: 'Plans trips.',
      prompt: 'You are Travel_Agent Pro. Plans trips.',
      executionEngine: { name: 'a2a' },
    },
  });
});

test('an agent without skills has null for them, and none are counted', async () => {
  const { world, look, shows } = playServer();
  shows({ skills: null });
  await look();
  expect(world.offers.all.get('travel-agent-pro')?.annotations['a2a.server/skills']).toBe('null');
  expect(world.events[0]?.message).toBe('Agent created: travel-agent-pro with 0 skills');
});

test('a poll that finds nothing new writes and tells nothing', async () => {
  const { world, look } = playServer();
  await look();
  const written = world.writes.length;
  world.pass(60_000);
  await look();
  expect(world.writes).toHaveLength(written);
  expect(world.events).toHaveLength(2);
  expect(world.offers.log).toEqual(['create travel-agent-pro']);
});

test('a server that flaps keeps its Agent', async () => {
  const { world, look, fails, shows } = playServer();
  await look();
  fails('A2A server returned status 503');
  world.pass(60_000);
  expect(await look()).toEqual({ requeueAfterMs: 5_000 });
  expect(told(world.status)).toEqual(failed);
  expect(world.status.message).toBe('A2A server returned status 503');
  expect(world.offers.names()).toEqual(['travel-agent-pro']);

  shows({});
  world.pass(5_000);
  await look();
  expect(told(world.status)).toEqual(ready);
  expect(world.status).not.toHaveProperty('message');
  expect(world.events.map(({ reason }) => reason)).toEqual([
    'AgentCreated',
    'AgentDiscovery',
    'AgentDiscovery',
  ]);
});

test.each([
  ['another description', { description: 'Plans better trips.' }, {}],
  ['other skills', { skills: [] }, {}],
  ['another address', {}, { address: { value: 'http://other' } }],
])('an Agent follows %s', async (_, change, elsewhere) => {
  const { world, look, shows } = playServer();
  await look();
  const before = world.offers.all.get('travel-agent-pro');
  shows(change);
  world.change({ spec: { ...spec, ...elsewhere } });
  world.pass(60_000);
  await look();
  expect(world.offers.log).toEqual(['create travel-agent-pro', 'change travel-agent-pro']);
  expect(world.offers.all.get('travel-agent-pro')).not.toEqual(before);
});

test('an agent of another name takes the place of the old one', async () => {
  const { world, look, shows } = playServer();
  await look();
  shows({ name: 'other' });
  world.pass(60_000);
  await look();
  expect(world.offers.names()).toEqual(['other']);
});

test('an Agent of somebody else is not overwritten, and the condition says so', async () => {
  const { world, look } = playServer();
  world.offers.put('travel-agent-pro', { spec: { prompt: 'mine' } });
  await look();
  expect(world.offers.spec('travel-agent-pro')).toEqual({ prompt: 'mine' });
  expect(told(world.status)).toEqual([
    discovering,
    'Ready=False AgentCreationFailed: Failed to create agent: default/travel-agent-pro is there already and ' +
      'does not belong to the A2AServer it; rename one of them, or delete it',
  ]);
  expect(world.events).toEqual([]);
});

describe('a server that cannot be asked says why', () => {
  const fromSecret = { valueFrom: { secretKeyRef: { name: 's', key: 'k' } } };
  const unresolved = [
    'Discovering=False AddressResolutionFailed: Cannot attempt discovery due to address resolution failure',
    'Ready=False AddressResolutionFailed: Server not ready due to address resolution failure',
  ];

  test.each([
    ['an address that is not there', { address: fromSecret }, unresolved, /secrets "s" not found/, 5],
    ['no address', { address: {} }, unresolved, /address must specify either value or valueFrom/, 60],
    [
      'a header that is not there',
      { ...spec, headers: [{ name: 'X-A', value: fromSecret }] },
      failed,
      /failed to resolve header X-A/,
      5,
    ],
  ])('for %s, and is looked at again', async (_, written, conditions, why, seconds) => {
    const { world, asked, look } = playServer(written);
    expect(await look()).toEqual({ requeueAfterMs: seconds * 1_000 });
    expect(told(world.status)).toEqual(conditions);
    expect(world.status.message).toMatch(why);
    expect(asked).toHaveLength(0);
  });

  test('and shows neither its headers nor an address from a Secret', async () => {
    const { world, look, fails, shows } = playServer({ address: fromSecret });
    world.writeSecret('s', { k: 'http://canary' });
    fails('no answer from http://canary');
    await look();
    shows({});
    world.pass(5_000);
    await look();
    expect(told(world.status)).toEqual(ready);
    const shown = [world.writes, world.events, world.offers.all.get('travel-agent-pro')];
    expect(JSON.stringify(shown)).not.toContain('canary');
  });
});
