import type { Progress } from '../../src/api/run.ts';
import type { TargetPlan, TeamPlan } from '../../src/api/snapshot.ts';
import { openTheatre, type Line, type Play, type Theatre } from './theatre.ts';

let theatre: Theatre;
beforeAll(async () => {
  theatre = await openTheatre();
});
afterAll(() => theatre.close());

const target = (type: string, name: string) => ({ type, name }) as TargetPlan;
const ann = [target('agent', 'ann')];
const agents = (...names: string[]) => names.map((name) => ({ type: 'agent', name }) as const);
const trip = (...names: string[]): TeamPlan => ({
  type: 'team',
  name: 'trip',
  strategy: 'sequential',
  members: agents(...names),
});
const question = 'user: what now?';
const times = ({ asked }: Play, speaker: string) => asked.filter((name) => name === speaker).length;

describe('an engine', () => {
  test('answers for an agent in one call, which is counted', async () => {
    const play = await theatre.play({ targets: ann, engines: ['ann'] });
    const { outcome } = await play.ended();
    expect(outcome).toMatchObject({
      phase: 'done',
      responses: [{ content: 'ann 1' }],
      usage: { modelCalls: 1, totalTokens: 15 },
    });
    const { events } = await play.handle.fetchHistory();
    const ids = events?.flatMap(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityId ?? [],
    );
    expect(ids).toEqual(['t001.ann.engine.1']);
  });

  test('hears the members before it, and is heard by those after it', async () => {
    const play = await theatre.play({
      targets: [target('team', 'trip')],
      teams: [trip('ann', 'bob', 'cem')],
      engines: ['bob'],
    });
    await play.ended();
    expect(play.heard('bob')).toEqual(['assistant: ann 1', question]);
    expect(play.heard('cem')).toEqual(['assistant: ann 1', 'assistant: bob 1', question]);
  });

  test('may say several things: all are heard, the last is the answer', async () => {
    const play = await theatre.play(
      { targets: [...ann, target('team', 'trip')], teams: [trip('ann', 'bob')], engines: ['ann'] },
      { ann: ['first\nthen'] },
    );
    expect((await play.ended()).outcome.responses).toMatchObject([{ content: 'then' }, { content: 'bob 1' }]);
    expect(play.heard('bob')).toEqual(['assistant: first', 'assistant: then', question]);
  });

  test('that fails fails its team, which keeps its last word', async () => {
    const play = await theatre.play(
      { targets: [target('team', 'trip')], teams: [trip('ann', 'bob')], engines: ['bob'] },
      { bob: [{ fails: 'EngineRejected' }] },
    );
    const { outcome, failure } = await play.ended();
    expect(failure).toBe('EngineRejected');
    expect(outcome.responses).toMatchObject([{ phase: 'error', content: 'ann 1' }]);
  });
});

describe('an answer of the wrong shape', () => {
  test('is mended in one more call; others neither hear nor remember it', async () => {
    const play = await theatre.play(
      {
        targets: [target('team', 'trip')],
        teams: [trip('ann', 'bob')],
        shaped: ['ann'],
        isRemembered: true,
      },
      { ann: ['bad', 'good'], 'memory.read': [''] },
    );
    expect((await play.ended()).outcome.phase).toBe('done');
    expect(play.heard('ann')).toEqual([
      question,
      'assistant: bad',
      expect.stringMatching(/^user: Your answer does not have the form that was asked for\. It is bad\./),
    ]);
    expect(play.heard('bob')).toEqual(['assistant: good', question]);
    expect(play.heard('memory.write.1')).toEqual([question, 'assistant: good', 'assistant: bob 1']);
  });

  test('given twice is an error that keeps it, and is not remembered', async () => {
    const play = await theatre.play(
      { targets: ann, shaped: ['ann'], isRemembered: true },
      { ann: ['bad', 'bad again'] },
    );
    const { outcome, failure } = await play.ended();
    expect(failure).toBe('OutputInvalid');
    expect(outcome.responses).toMatchObject([{ phase: 'error', content: 'bad again' }]);
    expect(outcome.usage.modelCalls).toBe(2);
    expect(play.asked).not.toContain('memory.write.1');
  });
});

describe('a forgiven tool', () => {
  test('answers with its error, and the agent goes on', async () => {
    const play = await theatre.play(
      { targets: ann, forgiven: ['search'] },
      {
        ann: [{ tools: ['search', 'lookup'] }, 'done'],
        search: [{ fails: 'ToolRejected' }],
        lookup: ['looked'],
      },
    );
    expect((await play.ended()).outcome.responses).toMatchObject([{ phase: 'done', content: 'done' }]);
    expect(play.heard('ann')).toEqual([
      question,
      'assistant: ',
      'tool: error: tool search: search failed on purpose',
      'tool: looked',
    ]);
  });

  test('is no excuse for another one', async () => {
    const play = await theatre.play(
      { targets: ann, forgiven: ['search'] },
      { ann: [{ tools: ['lookup'] }, 'done'], lookup: [{ fails: 'ToolRejected' }] },
    );
    expect((await play.ended()).failure).toBe('ToolRejected');
  });

  test.each(['cancelled', 'too late'])('is not forgiven where the run is %s', async (why) => {
    const play = await theatre.play(
      { targets: ann, forgiven: ['search'], ...(why === 'too late' && { timeoutMs: 6_000 }) },
      { ann: [{ tools: ['search'] }, 'never said'], search: [{ hangs: true }] },
    );
    await play.whenAsked('search');
    if (why === 'cancelled') await play.handle.cancel();
    const { outcome } = await play.ended();
    expect(outcome.phase).toBe(why === 'cancelled' ? 'canceled' : 'error');
    expect(times(play, 'ann')).toBe(1);
  });
});

describe('evaluators', () => {
  test('hear the answers, at once, and are listed in the order of the spec; one that fails scores 0', async () => {
    const play = await theatre.play(
      { targets: [...ann, target('tool', 'search')], evaluators: ['slow', 'broken', 'quick'] },
      {
        slow: [{ fails: 'EvaluatorUnavailable' }, '0.7'],
        broken: [{ fails: 'EvaluatorRejected' }],
        quick: ['0'],
      },
    );
    const { status, outcome } = await play.ended();
    expect({ status, phase: outcome.phase }).toEqual({ status: 'COMPLETED', phase: 'done' });
    expect(outcome.evaluations).toEqual([
      { evaluator: 'slow', score: '0.7', passed: true, metadata: {} },
      { evaluator: 'broken', score: '0', passed: false, metadata: { error: 'broken failed on purpose' } },
      { evaluator: 'quick', score: '0', passed: false, metadata: {} },
    ]);
    expect(play.heard('slow')).toEqual(['assistant: ann 1', 'assistant: search 1']);
  });

  test('are not asked about a Query that failed', async () => {
    const play = await theatre.play(
      { targets: ann, evaluators: ['judge'] },
      { ann: [{ fails: 'ModelNotFound' }] },
    );
    expect((await play.ended()).outcome).not.toHaveProperty('evaluations');
    expect(play.asked).not.toContain('judge');
  });

  test('are waited for in public; a cancel then ends the Query, which keeps its answers and judgements', async () => {
    const play = await theatre.play(
      { targets: ann, evaluators: ['first', 'judge'] },
      { first: ['1'], judge: [{ hangs: true }] },
    );
    await play.whenAsked('judge');
    await play.whenAsked('first');
    const { memo } = await play.handle.describe();
    expect(memo?.['progress'] as Progress).toEqual({
      turn: 1,
      speaker: 'evaluators',
      tokens: 15,
      isEvaluating: true,
    });
    await play.handle.cancel();
    const { status, outcome } = await play.ended();
    expect(status).toBe('CANCELLED');
    expect(outcome).toMatchObject({
      phase: 'canceled',
      responses: [{ phase: 'done', content: 'ann 1' }],
      evaluations: [
        { evaluator: 'first' },
        { evaluator: 'judge', score: '0', metadata: { error: 'canceled' } },
      ],
    });
  });

  test('have more time than the Query had', async () => {
    const isAway: Line = { fails: 'EvaluatorUnavailable' };
    const play = await theatre.play(
      { targets: ann, evaluators: ['judge'], timeoutMs: 6_000 },
      // Asked again after one, two and four seconds.
      { judge: [isAway, isAway, isAway, '0.9'] },
    );
    expect((await play.ended()).outcome.evaluations).toMatchObject([{ score: '0.9' }]);
  });
});

describe('a stream', () => {
  test.each<[string, Parameters<Theatre['play']>[1], string]>([
    ['done', {}, 'COMPLETED'],
    ['error', { ann: [{ fails: 'ModelNotFound' }] }, 'FAILED'],
    ['canceled', { ann: [{ hangs: true }] }, 'CANCELLED'],
  ])('is ended once by a Query that is %s', async (phase, script, ending) => {
    const play = await theatre.play({ targets: ann, isStreamed: true }, script);
    if (phase === 'canceled') {
      await play.whenAsked('ann');
      await play.handle.cancel();
    }
    const { status, outcome } = await play.ended();
    expect({ status, phase: outcome.phase }).toEqual({ status: ending, phase });
    expect(times(play, 'stream.end')).toBe(1);
  });

  test('says of each answer for which target and which team it is', async () => {
    const outer: TeamPlan = {
      type: 'team',
      name: 'outer',
      strategy: 'sequential',
      members: [...agents('cem'), { type: 'team', name: 'trip' }],
    };
    const play = await theatre.play({
      targets: [...ann, target('team', 'outer')],
      teams: [outer, trip('bob', 'dan')],
      isStreamed: true,
    });
    await play.ended();
    expect(play.heard('stream of ann')).toEqual(['user: agent/ann undefined']);
    expect(play.heard('stream of cem')).toEqual(['user: team/outer outer']);
    expect(play.heard('stream of dan')).toEqual(['user: team/outer trip']);
  });

  test('is ended before the evaluators are asked', async () => {
    const play = await theatre.play({ targets: ann, isStreamed: true, evaluators: ['judge'] });
    await play.ended();
    expect(play.asked.slice(-2)).toEqual(['stream.end', 'judge']);
  });

  test('that cannot be ended fails nothing', async () => {
    const play = await theatre.play(
      { targets: ann, isStreamed: true },
      { 'stream.end': [{ fails: 'TranscriptUnavailable' }] },
    );
    expect((await play.ended()).status).toBe('COMPLETED');
  });
});
