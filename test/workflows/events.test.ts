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

/** The first Event of a reason, as ARK's payload has it (section 6.1): the name, and the facts beside it. */
const payload = (told: readonly RunEvent[], reason: string): object => {
  const { name, facts } = told.find((each) => each.reason === reason) ?? {};
  return { name, ...facts };
};

describe('the payload of', () => {
  const play = async (...[cast, script]: Parameters<Theatre['play']>) => {
    const played = await theatre.play(cast, script);
    await played.ended();
    const { told } = played;
    const { uid } = told[0]!.query;
    return { told, ids: { queryId: uid, sessionId: uid } };
  };

  test('an agent’s Events', async () => {
    const tools = { search: 'custom', lookup: 'filtered' } as const;
    const { told, ids } = await play(
      { targets: bot, plans: { ann: { provider: 'gpt-4o', tools } } },
      {
        ann: [{ tools: ['search'] }, { tools: ['lookup'] }],
        search: ['found'],
        lookup: [{ fails: 'ToolRejected' }],
      },
    );
    const agent = {
      name: 'default/ann',
      model: 'gpt-4o',
      agentName: 'default/ann',
      namespace: 'default',
      ...ids,
    };
    expect(payload(told, 'AgentExecutionStart')).toEqual(agent);
    expect(payload(told, 'AgentExecutionComplete')).toEqual(agent);

    const llm = { name: 'gpt-4o', agent: 'default/ann', model: 'gpt-4o' };
    expect(payload(told, 'LLMCallStart')).toEqual(llm);
    expect(payload(told, 'LLMCallComplete')).toEqual(llm);

    const call = { toolId: 'call-0', parameters: '{"response":"over and out"}', paramCount: '1', ...ids };
    const search = {
      ...call,
      name: 'search',
      toolName: 'search',
      toolType: 'custom',
      agentName: 'default/ann',
    };
    const result = { resultLength: '5', hasError: 'false', resultId: 'call-0' };
    expect(payload(told, 'ToolCallStart')).toEqual(search);
    expect(payload(told, 'ToolCallComplete')).toEqual({ ...search, ...result });
    expect(payload(told, 'ToolCallError')).toEqual({
      ...search,
      name: 'lookup',
      toolName: 'lookup',
      toolType: 'filtered',
    });

    // No text and no time: ARK gives it neither.
    const { query } = told[0]!;
    const facts = { targetType: 'agent', targetName: 'ann', type: 'agent' };
    const reason = 'TargetExecutionError';
    expect(one(told, reason)).toEqual({ query, reason, name: 'ann', facts });
  });

  test('a team’s Events', async () => {
    const { told, ids } = await play(team({ strategy: 'selector', maxTurns: 1, model: 'm' }), {
      'select crew': ['bob'],
    });
    const name = 'default/crew';
    const execution = { name, strategy: 'selector', teamName: name, memberCount: '2', ...ids };
    expect(payload(told, 'TeamExecutionStart')).toEqual(execution);
    expect(payload(told, 'TeamExecutionError')).toEqual(execution);

    const turn = { name, strategy: 'selector', type: 'turn' };
    expect(payload(told, 'TeamTurnStart')).toEqual({ ...turn, turn: '0' });
    expect(payload(told, 'TeamTurnMaxTurns')).toEqual({ ...turn, turn: '1' });

    const member = { name: 'bob', team: name, memberType: 'agent', turn: '1', strategy: 'selector', ...ids };
    expect(payload(told, 'TeamMemberStart')).toEqual(member);
    expect(payload(told, 'TeamMemberComplete')).toEqual(member);

    expect(payload(told, 'SelectorModelResponse')).toEqual({
      name,
      model: 'm',
      selected_name: 'bob',
      available_participants: 'ann, bob',
      type: 'team_selector_response',
    });
    const selected = { selected_participant: 'bob', selection_reason: 'exact_match', type: 'team_selector' };
    expect(payload(told, 'ParticipantSelected')).toEqual({ name, ...selected });
  });

  test('an engine’s Events, told once however it ended', async () => {
    const { told } = await play({ targets: bot, engines: ['ann'] }, { ann: [{ fails: 'EngineRejected' }] });
    const engine = { name: 'model-of-ann', agent: 'default/ann', namespace: 'default' };
    expect(payload(told, 'ExecutorStart')).toEqual(engine);
    expect(payload(told, 'ExecutorError')).toEqual(engine);
    expect(told.map(({ reason }) => reason)).not.toContain('ExecutorComplete');
  });

  test('an A2A server’s Events', async () => {
    const a2a = { server: 'poet', address: 'http://poet' };
    const { told, ids } = await play(
      { targets: bot, engines: ['ann'], plans: { ann: { a2a } } },
      { ann: ['a poem'] },
    );
    const call = {
      name: 'ann',
      a2aServer: 'poet',
      serverAddr: 'http://poet',
      protocol: 'a2a-jsonrpc',
      namespace: 'default',
      ...ids,
    };
    const reply = { responseLength: '6', hasError: 'false', messageCount: '1' };
    expect(payload(told, 'A2ACallStart')).toEqual(call);
    expect(payload(told, 'A2ACallComplete')).toEqual({ ...call, ...reply });
    expect(told.map(({ reason }) => reason)).not.toContain('ExecutorStart');
  });

  test('a memory’s Events', async () => {
    const { told, ids } = await play(
      { targets: bot, isRemembered: true },
      { 'memory.read': ['earlier'], 'memory.write.1': [{ fails: 'MemoryRejected' }] },
    );
    const memory = { name: 'm', namespace: 'default', sessionId: ids.sessionId };
    expect(payload(told, 'MemoryGetMessagesStart')).toEqual(memory);
    expect(payload(told, 'MemoryGetMessagesComplete')).toEqual({ ...memory, messages: '1' });
    expect(payload(told, 'MemoryAddMessagesStart')).toEqual({ ...memory, messages: '2' });
    expect(payload(told, 'MemoryAddMessagesError')).toEqual({ ...memory, messages: '2' });
  });

  test.each<[string, readonly string[]]>([
    ['Complete', ['AgentExecution', 'LLMCall', 'ModelCall', 'ToolCall', 'TeamMember', 'TeamExecution']],
    ['Error', ['LLMCall', 'ModelCall', 'TeamMember', 'TeamExecution']],
  ])('every %s tells how long it took, and every error what went wrong', async (end, kinds) => {
    const fails = [{ fails: 'ModelBadRequest' }] as const;
    const { told } = await play(
      { ...team({ strategy: 'sequential' }), targets: [...crew, { type: 'model', name: 'gpt' } as never] },
      end === 'Error' ? { ann: fails, gpt: fails } : { ann: [{ tools: ['search'] }, 'done'] },
    );
    const error = end === 'Error' ? expect.stringContaining('on purpose') : undefined;
    for (const kind of kinds) {
      const event = told.find(({ reason }) => reason === kind + end);
      expect({ kind, took: event?.durationMs, error: event?.error }).toEqual({
        kind,
        took: expect.any(Number),
        error,
      });
    }
  });

  test('a call with long arguments has the beginning of them', async () => {
    const { told } = await play(
      { targets: bot },
      { ann: [{ tools: ['search'], saying: 'x'.repeat(20_000) }, 'done'] },
    );
    const { parameters } = payload(told, 'ToolCallStart') as { readonly parameters: string };
    expect(parameters).toMatch(/^{"response":"x+/);
    expect(Buffer.byteLength(parameters)).toBeLessThanOrEqual(8 * 1024);
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

test('a tool that fails is told with its words', async () => {
  const play = await theatre.play(
    { targets: bot },
    { ann: [{ tools: ['search'] }], search: [{ fails: 'ToolRejected' }] },
  );
  await play.ended();

  expect(play.told.map(line).slice(-4)).toEqual([
    'ToolCallStart search',
    'ToolCallError search',
    'AgentExecutionComplete default/ann',
    'TargetExecutionError ann',
  ]);
  expect(one(play.told, 'ToolCallError').error).toContain('failed on purpose');
});

test('a tool that ends the conversation says so, and so does the turn of its member', async () => {
  const play = await theatre.play(team({ strategy: 'sequential' }), { ann: [{ tools: ['terminate'] }] });
  await play.ended();

  const terminated = { terminationMessage: 'TerminateTeam' };
  expect(one(play.told, 'ToolCallComplete').facts).toEqual(terminated);
  expect(one(play.told, 'TeamMemberComplete')).toMatchObject({ name: 'ann', facts: terminated });
  expect(one(play.told, 'TeamExecutionComplete').name).toBe('default/crew');
});

const crew = [{ type: 'team', name: 'crew' }] as const;
const team = (more: object) => ({
  targets: crew,
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
    { maxTurns: 3, edges: { ann: 'bob', bob: 'ann' } },
    [
      ['TeamExecutionStart', 'default/crew', ''],
      ['TeamTurnStart', 'default/crew', '0'],
      ['ParticipantSelected', 'default/crew', 'graph'],
      ['TeamMemberStart', 'ann', '0'],
      ['ParticipantSelected', 'default/crew', 'graph'],
      ['TeamMemberStart', 'bob', '1'],
      ['ParticipantSelected', 'default/crew', 'graph'],
      ['TeamMemberStart', 'ann', '2'],
      ['TeamTurnMaxTurns', 'default/crew', '3'],
      ['TeamExecutionError', 'default/crew', ''],
    ],
  ],
  [
    'selector',
    { maxTurns: 3, model: 'm' },
    [
      ['TeamExecutionStart', 'default/crew', ''],
      ['TeamTurnStart', 'default/crew', '0'],
      ['SelectorModelResponse', 'default/crew', ''],
      ['ParticipantSelected', 'default/crew', 'fallback_no_match'],
      ['TeamMemberStart', 'ann', '0'],
      ['TeamTurnStart', 'default/crew', '1'],
      ['SelectorModelResponse', 'default/crew', ''],
      ['ParticipantSelected', 'default/crew', 'fallback_no_match'],
      ['TeamMemberStart', 'bob', '1'],
      ['TeamTurnStart', 'default/crew', '2'],
      ['SelectorModelResponse', 'default/crew', ''],
      ['ParticipantSelected', 'default/crew', 'fallback_no_match'],
      ['TeamMemberStart', 'ann', '0'],
      ['TeamTurnMaxTurns', 'default/crew', '3'],
      ['TeamExecutionError', 'default/crew', ''],
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

test('a selector tells whom its model named, who speaks, and why that one', async () => {
  const play = await theatre.play(team({ strategy: 'selector', maxTurns: 3, model: 'm' }), {
    'select crew': ['bob', 'nobody'],
  });
  await play.ended();
  expect(one(play.told.slice(0, 8), 'SelectorModelResponse').facts).toMatchObject({
    model: 'm',
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
    ['bob', 'fallback_no_match'],
  ]);
});

test('a selector’s turn begins with the question who has it, also where nobody answers', async () => {
  const play = await theatre.play(team({ strategy: 'selector', maxTurns: 3, model: 'm' }), {
    'select crew': [{ fails: 'ModelNotFound' }],
  });
  await play.ended();
  expect(turnsOf(play.told)).toEqual([
    ['TeamExecutionStart', 'default/crew', ''],
    ['TeamTurnStart', 'default/crew', '0'],
    ['TeamExecutionError', 'default/crew', ''],
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

test('a Tool that is asked directly is told as a target only', async () => {
  const play = await theatre.play({ targets: [{ type: 'tool', name: 'search', definition: 'search' }] });
  await play.ended();
  expect(play.told.map(line)).toEqual(['QueryResolveStart play', 'TargetExecutionComplete search']);
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
