import type { RunEvent } from '../../src/api/run-event.ts';
import { announced } from '../../src/controller/announce.ts';
import { settle, World, type Story } from '../fakes/world.ts';

/** What people are told of a Query's end, in the payload of contract section 6.1. */
async function toldOf(story: Story): Promise<RunEvent[]> {
  const told: RunEvent[] = [];
  const world = new World(story);
  await settle(Object.assign(world, { ports: announced(world.ports, (event) => told.push(event)) }));
  return told;
}

const bot = { type: 'agent', name: 'bot' } as const;
const query = { namespace: 'default', name: 'hello', uid: '6f1c' };
const end = {
  query,
  name: 'hello',
  facts: { namespace: 'default', targets: '1' },
  durationMs: expect.any(Number),
};

test.each<[string, Story, object[]]>([
  ['was answered', {}, [{ ...end, reason: 'QueryResolveComplete', durationMs: 1_500 }]],
  ['failed', { conduct: 'fails' }, [{ ...end, reason: 'QueryResolveError', error: 'wrong key' }]],
  [
    'was canceled',
    { conduct: 'waits for cancel', user: 'cancel' },
    [{ ...end, reason: 'QueryResolveError', error: 'canceled' }],
  ],
  [
    'could not be started',
    { refused: { type: 'TeamEmpty', message: 'no members' } },
    [{ ...end, reason: 'QueryResolveError', error: 'no members' }],
  ],
  [
    'has two targets, and a selector whose matches do not count',
    { spec: { targets: [bot, { type: 'model', name: 'm' }], selector: { matchLabels: { a: 'b' } } } },
    [{ ...end, reason: 'QueryResolveComplete', facts: { namespace: 'default', targets: '2' } }],
  ],
  ['was answered before', { status: { phase: 'done' } }, []],
])('of a Query that %s', async (_, story, expected) => {
  expect(await toldOf(story)).toEqual(expected);
});
