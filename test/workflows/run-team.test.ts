import fc from 'fast-check';
import type { TeamState } from '../../src/api/run.ts';
import type { MemberPlan, TeamPlan } from '../../src/api/snapshot.ts';
import type { View } from '../../src/api/transcript.ts';
import { runTeam, type TeamEnd, type TeamSteps, type TurnTaken } from '../../src/workflows/run-team.ts';

const members: MemberPlan[] = ['ann', 'bob', 'cem'].map((name) => ({ type: 'agent', name }));
const team = (strategy: object): TeamPlan =>
  ({ type: 'team', name: 'trip', members, ...strategy }) as unknown as TeamPlan;

const teams: TeamPlan[] = [
  team({ strategy: 'sequential' }),
  team({ strategy: 'parallel' }),
  team({ strategy: 'round-robin', maxTurns: 3 }),
  team({ strategy: 'selector', maxTurns: 5, definition: 'd', model: 'm' }),
  team({ strategy: 'graph', maxTurns: 9, edges: { ann: 'cem', cem: 'bob' } }),
  team({ strategy: 'graph', maxTurns: 4, edges: { ann: 'bob', bob: 'ann' } }),
];

/** A team at work: every turn takes one slot, and the order in which members were heard is written down. */
function table(
  overrides: Partial<TeamSteps> & { taken?: (member: string, slot: number) => Partial<TurnTaken> } = {},
) {
  const heard: { member: string; said: View }[] = [];
  const states: TeamState[] = [];
  const steps: TeamSteps = {
    decided: () => undefined,
    concurrency: 8,
    async takeTurn(member, said) {
      const slot = (said.at(-1)?.to ?? 0) + heard.filter((turn) => turn.said === said).length;
      heard.push({ member: member.name, said });
      return {
        said: [{ from: slot, to: slot + 1 }],
        last: { role: 'assistant', content: `${member.name} ${slot}` },
        ends: false,
        ...overrides.taken?.(member.name, slot),
      };
    },
    chooseSpeaker: async (said) => ({ answer: members[((said.at(-1)?.to ?? 0) * 2) % 3]?.name ?? '' }),
    betweenTurns: async (state) => void states.push(state),
    ...overrides,
  };
  return { steps, heard, states, order: () => heard.map(({ member }) => member).join(' ') };
}

describe.each(teams.map((plan) => [`${plan.strategy} team`, plan] as const))('a %s', (_, plan) => {
  test('picks up from any of its turns', async () => {
    const calm = table();
    const whole = await runTeam(plan, calm.steps);

    for (const state of calm.states) {
      expect(await runTeam(plan, table().steps, JSON.parse(JSON.stringify(state)) as TeamState)).toEqual(
        whole,
      );
    }
  });

  test('keeps what was said when a turn fails, and says which failure it was', async () => {
    const turns = (await runTeam(plan, table().steps)).state.turns.length;

    for (let broken = 0; broken < turns; broken++) {
      const { steps } = table({
        taken: (member, slot) =>
          slot === broken
            ? { last: undefined, failure: { type: 'ModelUnauthorized', message: `${member} 401` } }
            : {},
      });
      const end = await runTeam(plan, steps);
      expect(end.failure).toMatchObject({ type: 'ModelUnauthorized' });
      if (plan.strategy !== 'parallel') expect(end.state.turns).toHaveLength(broken + 1);
      expect(end.state.last?.content ?? 'nothing').toBe(lastBefore(plan, broken, end));
    }
  });

  test('counts what a member said before it failed as said', async () => {
    const { steps } = table({ taken: (member) => ({ failure: { type: 'ToolRejected', message: member } }) });
    const { state } = await runTeam(plan, steps);
    const spoke = plan.strategy === 'parallel' ? members.length : 1;
    expect(state.said).toEqual([{ from: 0, to: spoke }]);
    expect(state.last?.content).toBe(spoke === 1 ? 'ann 0' : 'cem 2');
  });

  test('stops when a member ends the conversation, in whichever turn', async () => {
    const turns = (await runTeam(plan, table().steps)).state.turns.length;

    for (let last = 0; last < turns; last++) {
      const { steps } = table({ taken: (__, slot) => ({ ends: slot === last }) });
      const end = await runTeam(plan, steps);
      expect(end.failure).toBeUndefined();
      expect(end.state.turns).toHaveLength(plan.strategy === 'parallel' ? turns : last + 1);
    }
  });
});

/** A broken turn leaves the last word to whoever spoke before it; in a parallel team to the last of the others. */
function lastBefore(plan: TeamPlan, broken: number, { state }: TeamEnd): string {
  if (plan.strategy === 'parallel') return broken === 2 ? 'bob 1' : 'cem 2';
  const speaker = state.turns.at(-2)?.member;
  return speaker === undefined ? 'nothing' : `${members[speaker]?.name} ${broken - 1}`;
}

test('sequential gives every member the floor once, each hearing those before it', async () => {
  const { steps, heard } = table();
  await runTeam(team({ strategy: 'sequential' }), steps);
  expect(heard).toEqual([
    { member: 'ann', said: [] },
    { member: 'bob', said: [{ from: 0, to: 1 }] },
    { member: 'cem', said: [{ from: 0, to: 2 }] },
  ]);
});

test('parallel members do not hear each other, and the last member has the last word', async () => {
  const { steps, heard } = table();
  const { state } = await runTeam(team({ strategy: 'parallel' }), steps);
  expect(heard.map(({ said }) => said)).toEqual([[], [], []]);
  expect(state.last?.content).toBe('cem 2');
});

test('of parallel members that fail, the first in the list says why, after all have spoken', async () => {
  const cem = Promise.withResolvers<void>();
  const { steps, order } = table({
    taken: (member) => (member === 'ann' ? {} : { failure: { type: 'ModelNotFound', message: member } }),
  });
  const { failure, state } = await runTeam(team({ strategy: 'parallel' }), {
    ...steps,
    async takeTurn(member, ...heard) {
      const turn = await steps.takeTurn(member, ...heard);
      if (member.name === 'cem') cem.resolve();
      if (member.name === 'bob') await cem.promise;
      return turn;
    },
  });
  expect(failure?.message).toBe('bob');
  expect(order()).toBe('ann bob cem');
  expect(state.turns).toHaveLength(3);
});

test.each(['sequential', 'parallel'])('a %s team knows no limit but its members', async (strategy) => {
  const { steps, order } = table();
  const { failure } = await runTeam(team({ strategy, maxTurns: 1 }), steps);
  expect(failure).toBeUndefined();
  expect(order()).toBe('ann bob cem');
});

test('round-robin counts full passes and ends in its limit by name', async () => {
  const { steps, order } = table();
  const { failure, state } = await runTeam(team({ strategy: 'round-robin', maxTurns: 2 }), steps);
  expect(order()).toBe('ann bob cem ann bob cem');
  expect(failure).toEqual({ type: 'TeamTurnLimit', message: 'team round-robin MaxTurns reached trip' });
  expect(state.last?.content).toBe('cem 5');
});

test('a graph follows its edges and ends where there is none, also at the limit', async () => {
  const path = team({ strategy: 'graph', maxTurns: 3, edges: { ann: 'cem', cem: 'bob' } });
  const { steps, order } = table();
  expect((await runTeam(path, steps)).failure).toBeUndefined();
  expect(order()).toBe('ann cem bob');
});

test('an edge to a name that stands twice in the list leads to the last of them', async () => {
  const twins = [...members, { type: 'team', name: 'bob' }];
  const path = team({ strategy: 'graph', maxTurns: 9, edges: { ann: 'bob' }, members: twins });
  const { state } = await runTeam(path, table().steps);
  expect(state.turns.map(({ member }) => member)).toEqual([0, 3]);
});

test('a graph with a next member beyond the limit, or one that is not in the team, fails by name', async () => {
  const endless = team({ strategy: 'graph', maxTurns: 2, edges: { ann: 'bob', bob: 'ann' } });
  expect((await runTeam(endless, table().steps)).failure?.message).toBe(
    'team graph MaxTurns 2 reached for team trip',
  );

  const lost = team({ strategy: 'graph', maxTurns: 9, edges: { ann: 'zoe' } });
  expect((await runTeam(lost, table().steps)).failure).toEqual({
    type: 'MemberNotFound',
    message: 'member zoe not found in team trip',
  });
});

test.each([
  ['a member', ['cem', 'cem', 'ann'], 'cem cem ann'],
  [
    'nobody: the first member, or the second where the first has just spoken',
    ['who?', 'who?', 'who?'],
    'ann bob ann',
  ],
  ['a member in another case, which is nobody', ['Bob', 'BOB', 'bob'], 'ann bob bob'],
])('a selector that names %s', async (_, answers, order) => {
  const choices = [...answers];
  let asked = 0;
  const { steps, order: spoken } = table({
    chooseSpeaker: async () => ({ answer: choices[asked++] ?? '' }),
  });
  const end = await runTeam(team({ strategy: 'selector', maxTurns: 3, definition: 'd', model: 'm' }), steps);
  expect(spoken()).toBe(order);
  expect(end.failure?.message).toBe('team selector MaxTurns reached trip');
  // A choice nobody may act on would be paid for in vain.
  expect(asked).toBe(3);
});

test('a selector whose model fails ends the team with that failure', async () => {
  const failure = { type: 'ModelNotFound', message: 'selector model call failed: 404' } as const;
  const { steps } = table({ chooseSpeaker: async () => ({ failure }) });
  expect(
    await runTeam(team({ strategy: 'selector', maxTurns: 3, definition: 'd', model: 'm' }), steps),
  ).toEqual({
    state: { turns: [], said: [] },
    failure,
  });
});

test('no strategy takes more turns than its limit allows, whatever the team looks like', async () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(
      names,
      fc.integer({ min: 1, max: 6 }),
      fc.infiniteStream(fc.nat()),
      async (list, maxTurns, chance) => {
        const plan = {
          type: 'team',
          name: 't',
          members: list.map((name) => ({ type: 'agent', name })),
          maxTurns,
        } as const;
        const edges = Object.fromEntries(
          list.map((name) => [name, list[chance.next().value % list.length] ?? name]),
        );
        const bound = {
          sequential: list.length,
          parallel: list.length,
          'round-robin': maxTurns * list.length,
        };

        for (const strategy of ['sequential', 'parallel', 'round-robin', 'selector', 'graph'] as const) {
          const { state } = await runTeam(
            { ...plan, strategy, edges, definition: 'd', model: 'm' } as TeamPlan,
            table().steps,
          );
          expect(state.turns.length).toBeLessThanOrEqual(bound[strategy as keyof typeof bound] ?? maxTurns);
        }
      },
    ),
    { numRuns: 50 },
  );
});
