import type { WorkflowHandle } from '@temporalio/client';
import type { TargetPlan, TeamPlan } from '../../src/api/snapshot.ts';
import { givenTo, openTheatre, type Theatre } from './theatre.ts';

/** A server that calls a history long after 60 events, where others wait for 4,096. */
let theatre: Theatre;
beforeAll(async () => {
  theatre = await openTheatre('limit.historyCount.suggestContinueAsNew=60');
});
afterAll(() => theatre.close());

const agents = (...names: string[]) => names.map((name) => ({ type: 'agent', name }) as const);
const team = (plan: object): TeamPlan => ({ type: 'team', ...plan }) as TeamPlan;
const target = (name: string): TargetPlan => ({ type: 'team', name });

type History = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

/** The histories of the runs of the chain, oldest first. */
async function chain(workflowId: string): Promise<History[]> {
  const { workflow } = theatre.client;
  const histories: History[] = [];
  let { runId } = await workflow.getHandle(workflowId).describe();
  while (runId) {
    const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
    histories.unshift(events ?? []);
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  }
  return histories;
}

test('a long team goes on in new runs: every turn once, all of it heard, all of it counted', async () => {
  const play = await theatre.play({
    targets: [target('debate')],
    teams: [team({ name: 'debate', strategy: 'round-robin', members: agents('ann', 'bob'), maxTurns: 15 })],
  });
  const { outcome, failure } = await play.ended();

  expect((await chain(play.handle.workflowId)).length).toBeGreaterThan(2);
  expect(failure).toBe('TeamTurnLimit');
  expect(play.asked).toEqual(Array.from({ length: 30 }, (_, n) => (n % 2 ? 'bob' : 'ann')));
  expect(play.heard('bob')).toEqual([
    ...Array.from({ length: 29 }, (_, n) => `assistant: ${n % 2 ? 'bob' : 'ann'} ${Math.floor(n / 2) + 1}`),
    'user: what now?',
  ]);
  expect(outcome).toMatchObject({
    responses: [{ content: 'bob 15' }],
    usage: { modelCalls: 30, totalTokens: 450 },
  });
});

test('targets that talk at the same time go on together, and those that have ended keep their answers', async () => {
  const play = await theatre.play({
    targets: [{ type: 'agent', name: 'quick' }, target('debate'), target('panel')],
    teams: [
      team({ name: 'debate', strategy: 'round-robin', members: agents('ann', 'bob'), maxTurns: 10 }),
      team({
        name: 'panel',
        strategy: 'graph',
        members: agents('x', 'y'),
        edges: { x: 'y', y: 'x' },
        maxTurns: 12,
      }),
    ],
  });
  const { outcome } = await play.ended();

  expect((await chain(play.handle.workflowId)).length).toBeGreaterThan(1);
  expect(outcome.responses.map(({ content }) => content)).toEqual(['quick 1', 'bob 10', 'y 6']);
  expect(play.asked.toSorted()).toEqual(
    ['ann', 'bob']
      .flatMap((name) => Array<string>(10).fill(name))
      .concat('quick', ...['x', 'y'].flatMap((name) => Array<string>(6).fill(name))),
  );
});

test('a nested team goes on in new runs too, and the outer one hears all of them', async () => {
  const play = await theatre.play(
    {
      targets: [target('outer')],
      teams: [
        team({
          name: 'outer',
          strategy: 'sequential',
          members: [{ type: 'team', name: 'inner' }, ...agents('zoe')],
        }),
        team({ name: 'inner', strategy: 'round-robin', members: agents('ann', 'bob'), maxTurns: 50 }),
      ],
    },
    { bob: [...Array.from({ length: 9 }, (_, n) => `bob ${n + 1}`), { tools: ['terminate'] }] },
  );
  const { outcome } = await play.ended();

  expect(outcome.responses).toMatchObject([{ phase: 'done', content: 'zoe 1' }]);
  expect(play.heard('zoe')).toHaveLength(19 + 2 + 1);
  expect(play.heard('zoe').slice(0, 3)).toEqual(['assistant: ann 1', 'assistant: bob 1', 'assistant: ann 2']);
});

/** How long a run gives its targets: its first timer. */
const deadlineMs = (history: History): number => {
  const timer = history.find((event) => event.timerStartedEventAttributes)?.timerStartedEventAttributes;
  const { seconds, nanos } = timer?.startToFireTimeout ?? {};
  return Number(seconds) * 1_000 + Number(nanos) / 1_000_000;
};

test('a deadline counts from the first run, and a cancel reaches the last', async () => {
  const timeoutMs = 12_000;
  const late = await theatre.play(
    {
      targets: [target('debate')],
      teams: [team({ name: 'debate', strategy: 'round-robin', members: agents('ann', 'bob'), maxTurns: 50 })],
      timeoutMs,
    },
    { bob: [...Array.from({ length: 7 }, (_, n) => `bob ${n + 1}`), { hangs: true }] },
  );
  expect((await late.ended()).outcome.responses).toMatchObject([
    { content: 'ann 8', failure: { type: 'TargetTimeout' } },
  ]);
  const deadlines = (await chain(late.handle.workflowId)).map(deadlineMs);
  expect(deadlines.length).toBeGreaterThan(1);
  expect(deadlines).toEqual([...new Set(deadlines)].toSorted((a, b) => b - a));
  expect(deadlines[0]).toBeLessThanOrEqual(timeoutMs);

  const unwanted = await theatre.play(
    {
      targets: [target('debate')],
      teams: [team({ name: 'debate', strategy: 'round-robin', members: agents('ann', 'bob'), maxTurns: 50 })],
    },
    { bob: [...Array.from({ length: 11 }, (_, n) => `bob ${n + 1}`), { hangs: true }] },
  );
  await unwanted.whenAsked('bob', 12);
  await theatre.client.workflow.getHandle(unwanted.handle.workflowId).cancel();
  expect(await unwanted.ended()).toMatchObject({
    status: 'CANCELLED',
    outcome: { responses: [{ content: 'ann 12' }] },
  });
});

test('what was said before is read by the first run only, heard in the last, and all of it is remembered once', async () => {
  const play = await theatre.play(
    {
      targets: [target('debate'), { type: 'agent', name: 'quick' }],
      teams: [team({ name: 'debate', strategy: 'round-robin', members: agents('ann', 'bob'), maxTurns: 15 })],
      isRemembered: true,
      isStreamed: true,
      evaluators: ['judge'],
    },
    {
      'memory.read': ['we met before'],
      bob: [...Array.from({ length: 9 }, (_, n) => `bob ${n + 1}`), { tools: ['terminate'] }],
    },
  );
  const { outcome } = await play.ended();

  expect((await chain(play.handle.workflowId)).length).toBeGreaterThan(1);
  expect(outcome).toMatchObject({ phase: 'done', evaluations: [{ score: 'judge 1' }] });
  expect(play.heard('bob').slice(0, 2)).toEqual(['user: we met before', 'assistant: ann 1']);
  expect(play.heard('memory.write.1').slice(0, 2)).toEqual(['user: what now?', 'assistant: ann 1']);
  expect(play.heard('memory.write.1')).toHaveLength(1 + 19 + 2);
  expect(await givenTo(theatre.client, play.handle.workflowId, 'memory.write.1')).toMatchObject({ held: 1 });
  expect(play.asked.filter((name) => !/^(stream of )?(ann|bob|quick)$/.test(name))).toEqual([
    'memory.read',
    'memory.write.2',
    'memory.write.1',
    'stream.end',
    'judge',
  ]);
});
