import { randomUUID } from 'node:crypto';
import type { TargetPlan, TeamPlan } from '../../src/api/snapshot.ts';
import { openTheatre, type Cast, type Play, type Theatre } from './theatre.ts';

let theatre: Theatre;
beforeAll(async () => {
  theatre = await openTheatre();
});
afterAll(() => theatre.close());

const agent = (name: string): { type: 'agent'; name: string } => ({ type: 'agent', name });
const nested = (name: string): { type: 'team'; name: string } => ({ type: 'team', name });
const team = (name: string, strategy: string, members: readonly object[], more: object = {}): TeamPlan =>
  ({ type: 'team', name, strategy, members, ...more }) as TeamPlan;
const asking = (target: object, ...teams: TeamPlan[]): Cast => ({ targets: [target as TargetPlan], teams });
const contents = async (play: Play) => (await play.ended()).outcome.responses.map(({ content }) => content);

async function events(play: Play) {
  return (await play.handle.fetchHistory()).events ?? [];
}
const activityIds = async (play: Play): Promise<string[]> =>
  (await events(play)).flatMap((event) => event.activityTaskScheduledEventAttributes?.activityId ?? []);

describe('answers', () => {
  test('an agent answers in one call, named after its turn', async () => {
    const play = await theatre.play(asking(agent('ann')), { ann: ['forty-two'] });
    expect(await play.ended()).toEqual({
      status: 'COMPLETED',
      outcome: {
        phase: 'done',
        responses: [{ target: agent('ann'), content: 'forty-two', phase: 'done' }],
        usage: { promptTokens: 10, completionTokens: 5, totalTokens: 15, modelCalls: 1, toolCalls: 0 },
      },
    });
    expect(play.heard('ann')).toEqual(['user: what now?']);
    expect(await activityIds(play)).toEqual(['t001.ann.model.1']);
  });

  test('a model and a tool answer when asked directly', async () => {
    const play = await theatre.play({
      targets: [{ type: 'model', name: 'gpt' } as TargetPlan, { type: 'tool', name: 'search' } as TargetPlan],
    });
    expect((await play.ended()).outcome).toMatchObject({
      responses: [{ content: 'gpt 1' }, { content: 'search 1' }],
      usage: { modelCalls: 1, toolCalls: 1, totalTokens: 15 },
    });
  });

  test('an agent uses its tools one after the other and hears their results', async () => {
    const play = await theatre.play(asking(agent('ann')), {
      ann: [{ tools: ['search', 'lookup'] }, 'done'],
      search: ['found'],
      lookup: ['looked'],
    });
    expect(await contents(play)).toEqual(['done']);
    expect(play.heard('ann')).toEqual(['user: what now?', 'assistant: ', 'tool: found', 'tool: looked']);
    expect(await activityIds(play)).toEqual([
      't001.ann.model.1',
      't001.ann.tool.1.search',
      't001.ann.tool.2.lookup',
      't001.ann.model.2',
    ]);
  });

  test('an agent that is asked directly may end the conversation with its answer', async () => {
    const play = await theatre.play(asking(agent('ann')), { ann: [{ tools: ['terminate'] }] });
    expect((await play.ended()).outcome).toMatchObject({
      phase: 'done',
      responses: [{ phase: 'done', content: 'over and out' }],
    });
  });

  test('each member of a sequential team hears all before it, then the question', async () => {
    const play = await theatre.play(
      asking(nested('trip'), team('trip', 'sequential', [agent('ann'), agent('bob'), agent('cem')])),
    );
    expect(await contents(play)).toEqual(['cem 1']);
    expect(play.heard('cem')).toEqual(['assistant: ann 1', 'assistant: bob 1', 'user: what now?']);
  });

  test('parallel members hear the question only', async () => {
    const play = await theatre.play(
      asking(nested('trip'), team('trip', 'parallel', [agent('ann'), agent('bob'), agent('cem')])),
    );
    expect(await contents(play)).toEqual(['cem 1']);
    for (const name of ['ann', 'bob', 'cem']) expect(play.heard(name)).toEqual(['user: what now?']);
  });

  test('a selector asks its model before every turn, which is counted like any other call', async () => {
    const play = await theatre.play(
      asking(
        nested('trip'),
        team('trip', 'selector', [agent('ann'), agent('bob')], { model: 'm', maxTurns: 9 }),
      ),
      { 'select trip': ['bob', 'ann'], ann: [{ tools: ['terminate'] }] },
    );
    const { outcome } = await play.ended();
    expect(outcome.responses[0]?.content).toBe('over and out');
    expect(play.asked).toEqual(['select trip', 'bob', 'select trip', 'ann']);
    expect(play.prompted('select trip')).toBe('# bob:\nbob 1\n');
    expect(outcome.usage).toMatchObject({ modelCalls: 4, toolCalls: 1, totalTokens: 60 });
  });

  test('a nested team is a run of its own; what its members said is heard by those after it', async () => {
    const play = await theatre.play(
      asking(
        nested('outer'),
        team('outer', 'sequential', [agent('ann'), nested('inner'), agent('dan')]),
        team('inner', 'sequential', [agent('bob'), agent('cem')]),
      ),
    );
    const { outcome } = await play.ended();
    expect(outcome.responses[0]?.content).toBe('dan 1');
    expect(outcome.usage).toMatchObject({ modelCalls: 4, totalTokens: 60 });
    expect(play.heard('cem')).toEqual(['assistant: ann 1', 'assistant: bob 1', 'user: what now?']);
    expect(play.heard('dan')).toEqual([
      'assistant: ann 1',
      'assistant: bob 1',
      'assistant: cem 1',
      'user: what now?',
    ]);
    const uid = play.handle.workflowId.split(':').at(-1);
    expect(await contentsOfChild(`team:default:${uid}:t002.inner`)).toBe('COMPLETED');
  });

  test('`terminate` asked for by a direct target is its answer', async () => {
    const play = await theatre.play(asking(agent('ann')), { ann: [{ tools: ['terminate'] }] });
    expect((await play.ended()).outcome.responses).toMatchObject([
      { content: 'over and out', phase: 'done' },
    ]);
  });

  test.each([
    ['a nested team', team('inner', 'round-robin', [agent('bob'), agent('cem')], { maxTurns: 5 })],
    ['a nested team of one', team('inner', 'sequential', [agent('bob')])],
  ])('`terminate` in %s ends that team only', async (_, inner) => {
    const play = await theatre.play(
      asking(nested('outer'), team('outer', 'sequential', [nested('inner'), agent('dan')]), inner),
      { bob: [{ tools: ['terminate'] }] },
    );
    expect(await contents(play)).toEqual(['dan 1']);
    expect(play.asked).toEqual(['bob', 'dan']);
  });

  test('several targets answer in the order of the spec, whoever was first', async () => {
    const play = await theatre.play(
      { targets: [agent('slow'), agent('quick')] },
      { slow: [{ tools: ['noop'] }, 'at last'] },
    );
    expect(await contents(play)).toEqual(['at last', 'quick 1']);
  });
});

const contentsOfChild = async (workflowId: string) =>
  (await theatre.client.workflow.getHandle(workflowId).describe()).status.name;

describe('failures', () => {
  test('one target that fails leaves the others their answers, and the run is Failed by the failure’s name', async () => {
    const play = await theatre.play(
      { targets: [agent('ann'), agent('bob')] },
      { ann: [{ fails: 'ModelUnauthorized' }] },
    );
    const { status, failure, outcome } = await play.ended();
    expect({ status, failure, phase: outcome.phase }).toEqual({
      status: 'FAILED',
      failure: 'ModelUnauthorized',
      phase: 'error',
    });
    expect(outcome.responses).toMatchObject([
      { phase: 'error', content: '', failure: { type: 'ModelUnauthorized' } },
      { phase: 'done', content: 'bob 1' },
    ]);
    // What failed is not counted, what was answered is.
    expect(outcome.usage).toMatchObject({ modelCalls: 1, totalTokens: 15 });
  });

  test('what may pass is asked again; what cannot is not', async () => {
    const busy = await theatre.play(asking(agent('ann')), {
      ann: [{ fails: 'ModelUnavailable' }, 'back again'],
    });
    expect(await contents(busy)).toEqual(['back again']);
    expect(busy.asked).toEqual(['ann', 'ann']);

    const wrong = await theatre.play(asking(agent('ann')), { ann: [{ fails: 'ModelBadRequest' }] });
    await wrong.ended();
    expect(wrong.asked).toEqual(['ann']);
  });

  test('a team that fails keeps its last word', async () => {
    const play = await theatre.play(
      asking(nested('trip'), team('trip', 'sequential', [agent('ann'), agent('bob')])),
      { bob: [{ fails: 'ModelNotFound' }] },
    );
    expect((await play.ended()).outcome.responses).toMatchObject([{ phase: 'error', content: 'ann 1' }]);
  });

  test('a nested team that fails fails the outer one, which keeps what both said', async () => {
    const play = await theatre.play(
      asking(
        nested('outer'),
        team('outer', 'sequential', [agent('ann'), nested('inner')]),
        team('inner', 'round-robin', [agent('bob'), agent('cem')], { maxTurns: 1 }),
      ),
    );
    const { failure, outcome } = await play.ended();
    expect(failure).toBe('TeamTurnLimit');
    expect(outcome.responses[0]).toMatchObject({
      content: 'cem 1',
      failure: { message: 'team round-robin MaxTurns reached inner' },
    });
    expect(outcome.usage.modelCalls).toBe(3);
  });

  test('a target that takes too long ends in its timeout and keeps what was said', async () => {
    const play = await theatre.play(
      {
        ...asking(nested('trip'), team('trip', 'sequential', [agent('ann'), agent('bob')])),
        timeoutMs: 6_000,
      },
      { bob: [{ hangs: true }] },
    );
    expect((await play.ended()).outcome.responses).toMatchObject([
      {
        phase: 'error',
        content: 'ann 1',
        failure: { type: 'TargetTimeout', message: expect.stringContaining('context deadline exceeded') },
      },
    ]);
  });
});

describe('from outside', () => {
  test.each([
    ['a team', asking(nested('trip'), team('trip', 'sequential', [agent('ann'), agent('bob')])), 'ann 1'],
    [
      'a nested team',
      asking(
        nested('outer'),
        team('outer', 'sequential', [nested('trip')]),
        team('trip', 'sequential', [agent('ann'), agent('bob')]),
      ),
      'ann 1',
    ],
  ])('cancelling %s ends it Canceled, at once, with what was answered', async (_, cast, content) => {
    const play = await theatre.play(cast, { bob: [{ hangs: true }] });
    await play.whenAsked('bob');
    await play.handle.cancel();
    const { status, outcome } = await play.ended();
    expect(status).toBe('CANCELLED');
    expect(outcome).toMatchObject({ phase: 'canceled', responses: [{ phase: 'canceled', content }] });
  });

  test('a reset to the failed turn asks nothing again that was answered', async () => {
    const play = await theatre.play(
      asking(
        nested('outer'),
        team('outer', 'sequential', [agent('ann'), nested('inner'), agent('dan'), agent('eve')]),
        team('inner', 'sequential', [agent('bob'), agent('cem')]),
      ),
      { dan: [{ fails: 'ModelNotFound' }, 'mended'] },
    );
    expect((await play.ended()).failure).toBe('ModelNotFound');

    const scheduled = (await events(play)).find((event) =>
      event.activityTaskScheduledEventAttributes?.activityId?.startsWith('t003.dan'),
    );
    const { runId } = await play.handle.describe();
    await theatre.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      reason: 'try again',
      requestId: randomUUID(),
      workflowExecution: { workflowId: play.handle.workflowId, runId },
      workflowTaskFinishEventId:
        scheduled?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId,
    });

    expect((await play.ended()).outcome.responses).toMatchObject([{ phase: 'done', content: 'eve 1' }]);
    expect(play.asked).toEqual(['ann', 'bob', 'cem', 'dan', 'dan', 'eve']);
    expect(play.heard('eve')).toEqual(
      ['ann', 'bob', 'cem']
        .map((name) => `assistant: ${name} 1`)
        .concat('assistant: mended', 'user: what now?'),
    );
  });
});

describe('size', () => {
  test('history grows linearly, by less than 1 KB a turn beside the answers', async () => {
    const answer = 'x'.repeat(1000);
    const size = async (turns: number): Promise<number> => {
      const members = Array.from({ length: 8 }, (_, n) => agent(`member-${n}`));
      const play = await theatre.play(
        asking(nested('long'), team('long', 'round-robin', members, { maxTurns: turns / 8 })),
        Object.fromEntries(members.map(({ name }) => [name, [answer]])),
      );
      await play.ended();
      const { historySize } = (await play.handle.describe()) as { historySize?: number };
      return historySize ?? 0;
    };
    const [short, long] = [await size(40), await size(200)];
    expect((long - short) / 160 - answer.length).toBeLessThan(1024);
  });

  test('an answer near the limit of one result passes, and the run’s result stays small', async () => {
    const play = await theatre.play(
      asking(nested('trip'), team('trip', 'sequential', [agent('ann'), agent('bob')])),
      { ann: ['y'.repeat(1_000_000)], bob: ['z'.repeat(1_000_000)] },
    );
    const { outcome } = await play.ended();
    expect(play.heard('bob')[0]).toHaveLength('assistant: '.length + 1_000_000);
    expect(Buffer.byteLength(JSON.stringify(outcome))).toBeLessThan(256 * 1024);
    expect(outcome.responses[0]?.content).toMatch(/^z+\n… \[cut/);
  });
});
