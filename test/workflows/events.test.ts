import type { RunEvent } from '../../src/api/run-event.ts';
import { openTheatre, type Theatre } from './theatre.ts';

let theatre: Theatre;
beforeAll(async () => void (theatre = await openTheatre()));
afterAll(() => theatre.close());

/** `LLMCallStart model-of-ann` */
const line = ({ reason, name }: RunEvent): string => `${reason} ${name}`;
const one = (told: readonly RunEvent[], reason: string): RunEvent => {
  const [event, ...more] = told.filter((each) => each.reason === reason);
  if (!event || more.length > 0) throw new Error(`${more.length + (event ? 1 : 0)} events ${reason}`);
  return event;
};
const bot = [{ type: 'agent', name: 'ann' }] as const;

test('an agent with a tool is told in the order of the contract (section 6.1)', async () => {
  const play = await theatre.play({ targets: bot }, { ann: [{ tools: ['search'] }, 'done'] });
  await play.ended();

  expect(play.told.map(line)).toEqual([
    'QueryResolveStart play',
    'AgentExecutionStart default/ann',
    'LLMCallStart model-of-ann',
    'LLMCallComplete model-of-ann',
    'ToolCallStart search',
    'ToolCallComplete search',
    'LLMCallStart model-of-ann',
    'LLMCallComplete model-of-ann',
    'AgentExecutionComplete default/ann',
    'TargetExecutionComplete ann',
  ]);
  const { uid } = play.told[0]!.query;
  expect(one(play.told, 'QueryResolveStart').facts).toEqual({ namespace: 'default', targets: '1' });
  expect(one(play.told, 'AgentExecutionStart').facts).toEqual({
    model: 'model-of-ann',
    agentName: 'default/ann',
    namespace: 'default',
    queryId: uid,
    sessionId: uid,
  });
  expect(one(play.told, 'ToolCallStart').facts).toMatchObject({
    toolId: 'call-0',
    toolName: 'search',
    agentName: 'default/ann',
    parameters: '{"response":"over and out"}',
    paramCount: '1',
    toolType: 'unknown',
  });
  expect(one(play.told, 'ToolCallComplete').facts).toMatchObject({ hasError: 'false', resultId: 'call-0' });
  expect(one(play.told, 'TargetExecutionComplete').facts).toEqual({
    targetType: 'agent',
    targetName: 'ann',
    type: 'agent',
  });
  expect(play.told.filter(({ reason }) => reason === 'LLMCallComplete')[0]).toMatchObject({
    tokens: { promptTokens: 10, completionTokens: 5, totalTokens: 15 },
    durationMs: expect.any(Number) as number,
  });
});

test('a failure is told at every level that has a word for it', async () => {
  const play = await theatre.play({ targets: bot }, { ann: [{ fails: 'ModelBadRequest' }] });
  await play.ended();

  expect(play.told.map(line)).toEqual([
    'QueryResolveStart play',
    'AgentExecutionStart default/ann',
    'LLMCallStart model-of-ann',
    'LLMCallError model-of-ann',
    // ARK has no error for it (section 4.4).
    'AgentExecutionComplete default/ann',
    'TargetExecutionError ann',
  ]);
  expect(one(play.told, 'LLMCallError').error).toBeTruthy();
});

test('a tool that ends the conversation says so, and so does the turn of its member', async () => {
  const play = await theatre.play(team({ strategy: 'sequential' }), { ann: [{ tools: ['terminate'] }] });
  await play.ended();

  const terminated = { terminationMessage: 'TerminateTeam' };
  expect(one(play.told, 'ToolCallComplete').facts).toEqual(terminated);
  expect(one(play.told, 'TeamMemberComplete')).toMatchObject({ name: 'ann', facts: terminated });
  expect(one(play.told, 'TeamExecutionComplete').name).toBe('default/crew');
});

const team = (more: object) => ({
  targets: [{ type: 'team', name: 'crew' }] as const,
  teams: [
    {
      type: 'team',
      name: 'crew',
      members: [
        { type: 'agent', name: 'ann' },
        { type: 'agent', name: 'bob' },
      ],
      ...more,
    },
  ] as never,
});
const turnsOf = (told: readonly RunEvent[]) =>
  told
    .filter(({ reason }) => /^(Team|Participant|Selector)/.test(reason) && !reason.endsWith('Complete'))
    .map(({ reason, name, facts }) => [reason, name, facts['turn'] ?? facts['selection_reason'] ?? '']);

test.each([
  [
    'sequential',
    {},
    [
      ['TeamExecutionStart', 'default/crew', ''],
      ['TeamMemberStart', 'ann', '0'],
      ['TeamMemberStart', 'bob', '1'],
    ],
  ],
  [
    'round-robin',
    { maxTurns: 2 },
    [
      ['TeamExecutionStart', 'default/crew', ''],
      ['TeamTurnStart', 'default/crew', '0'],
      ['TeamMemberStart', 'ann', '0'],
      ['TeamMemberStart', 'bob', '1'],
      ['TeamTurnStart', 'default/crew', '1'],
      ['TeamMemberStart', 'ann', '0'],
      ['TeamMemberStart', 'bob', '1'],
      ['TeamTurnMaxTurns', 'default/crew', '2'],
      ['TeamExecutionError', 'default/crew', ''],
    ],
  ],
  [
    'graph',
    { maxTurns: 5, edges: { ann: 'bob' } },
    [
      ['TeamExecutionStart', 'default/crew', ''],
      ['TeamTurnStart', 'default/crew', '0'],
      ['ParticipantSelected', 'default/crew', 'graph'],
      ['TeamMemberStart', 'ann', '0'],
      ['ParticipantSelected', 'default/crew', 'graph'],
      ['TeamMemberStart', 'bob', '1'],
    ],
  ],
] as const)('the turns of a %s team are told as the contract has them', async (strategy, more, expected) => {
  const play = await theatre.play(team({ strategy, ...more }));
  await play.ended();
  expect(turnsOf(play.told)).toEqual(expected);
});

test('a team counts what its members used once', async () => {
  const play = await theatre.play(team({ strategy: 'sequential' }));
  await play.ended();
  expect(one(play.told, 'TeamExecutionComplete').tokens?.totalTokens).toBe(30);
});

test('a selector tells whom its model named, and why that one speaks', async () => {
  const play = await theatre.play(team({ strategy: 'selector', maxTurns: 2, model: 'm' }), {
    'select crew': ['bob', 'nobody'],
  });
  await play.ended();
  expect(one(play.told.slice(0, 8), 'SelectorModelResponse').facts).toMatchObject({
    selected_name: 'bob',
    available_participants: 'ann, bob',
  });
  expect(
    play.told
      .filter(({ reason }) => reason === 'ParticipantSelected')
      .map(({ facts }) => [facts['selected_participant'], facts['selection_reason']]),
  ).toEqual([
    ['bob', 'exact_match'],
    ['ann', 'fallback_no_match'],
  ]);
});

test('what a run uses beside its models is told around it, failures with their words', async () => {
  const play = await theatre.play(
    { targets: bot, isRemembered: true, engines: ['ann'], evaluators: ['judge', 'broken'] },
    { 'memory.read': ['earlier'], ann: ['done'], judge: ['1'], broken: [{ fails: 'EvaluatorRejected' }] },
  );
  await play.ended();

  const { uid } = play.told[0]!.query;
  const reasons = play.told.map(({ reason }) => reason);
  expect(reasons.slice(0, 9)).toEqual([
    'QueryResolveStart',
    'MemoryGetMessagesStart',
    'MemoryGetMessagesComplete',
    'AgentExecutionStart',
    'ExecutorStart',
    'ExecutorComplete',
    'AgentExecutionComplete',
    'MemoryAddMessagesStart',
    'MemoryAddMessagesComplete',
  ]);
  expect(reasons.slice(9).toSorted()).toEqual([
    'EvaluationComplete',
    'EvaluationError',
    'EvaluationStart',
    'EvaluationStart',
    'TargetExecutionComplete',
  ]);
  const inSession = { namespace: 'default', sessionId: uid };
  expect(one(play.told, 'MemoryGetMessagesComplete').facts).toEqual({ ...inSession, messages: '1' });
  expect(one(play.told, 'MemoryAddMessagesComplete').facts).toEqual({ ...inSession, messages: '2' });
  expect(one(play.told, 'ExecutorComplete')).toMatchObject({
    facts: { agent: 'default/ann', namespace: 'default' },
    tokens: { totalTokens: 15 },
  });
  expect(one(play.told, 'EvaluationComplete').facts).toEqual({ namespace: 'default', evaluator: 'judge' });
  expect(one(play.told, 'EvaluationError')).toMatchObject({
    name: 'play',
    facts: { evaluator: 'broken' },
    error: expect.any(String) as string,
  });
});

test('a Model that is asked directly is told by its own name', async () => {
  const play = await theatre.play({ targets: [{ type: 'model', name: 'gpt', definition: 'gpt' }] });
  await play.ended();
  expect(play.told.map(line)).toEqual([
    'QueryResolveStart play',
    'ModelCallStart gpt',
    'ModelCallComplete gpt',
    'TargetExecutionComplete gpt',
  ]);
  expect(one(play.told, 'ModelCallStart').facts).toEqual({ model: 'gpt', type: 'direct' });
});
