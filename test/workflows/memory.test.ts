import type { TargetPlan, TeamPlan } from '../../src/api/snapshot.ts';
import { givenTo, openTheatre, type Cast, type Script, type Theatre } from './theatre.ts';

let theatre: Theatre;
beforeAll(async () => {
  theatre = await openTheatre();
});
afterAll(() => theatre.close());

const target = (type: string, name: string) => ({ type, name }) as TargetPlan;
const agents = (...names: string[]) => names.map((name) => ({ type: 'agent', name }) as const);
const team = (name: string, members: readonly object[], strategy = 'sequential', more: object = {}) =>
  ({ type: 'team', name, strategy, members, ...more }) as TeamPlan;

const before: Script = { 'memory.read': ['we met before'] };
const remembering = (more: Omit<Cast, 'isRemembered'>, script: Script = {}) =>
  theatre.play({ ...more, isRemembered: true }, { ...before, ...script });
const times = (asked: readonly string[], speaker: string) => asked.filter((name) => name === speaker).length;

const earlier = 'user: we met before';
const question = 'user: what now?';

describe('what was said before', () => {
  test('is read once, and heard by agents and models, but not by tools', async () => {
    const play = await remembering({
      targets: [target('agent', 'ann'), target('model', 'gpt'), target('tool', 'search')],
    });
    expect((await play.ended()).outcome.phase).toBe('done');
    expect(play.heard('ann')).toEqual([earlier, question]);
    expect(play.heard('gpt')).toEqual([earlier, question]);
    expect(play.heard('search')).toEqual([]);
    expect(times(play.asked, 'memory.read')).toBe(1);
  });

  test('is heard by every member of a team, also of a nested one', async () => {
    const play = await remembering(
      {
        targets: [target('team', 'outer')],
        teams: [
          team('outer', [...agents('ann'), target('team', 'inner'), ...agents('dan')]),
          team('inner', agents('bob', 'cem'), 'selector', { model: 'm', maxTurns: 5 }),
        ],
      },
      { 'select inner': ['cem'], cem: [{ tools: ['terminate'] }] },
    );
    await play.ended();
    expect(play.heard('ann')).toEqual([earlier, question]);
    expect(play.heard('cem')).toEqual([earlier, 'assistant: ann 1', question]);
    expect(play.prompted('select inner')).toBe('# user:\nwe met before\n\n# ann:\nann 1\n');
    expect(play.heard('dan')).toEqual([
      earlier,
      'assistant: ann 1',
      'assistant: ',
      'tool: over and out',
      question,
    ]);
  });

  test('is not asked for where only tools are', async () => {
    const play = await remembering({ targets: [target('tool', 'search')] });
    await play.ended();
    expect(play.asked).toEqual(['search']);
  });
});

describe('what is said', () => {
  test('is remembered once for each target that answered, after the question it answers', async () => {
    const play = await remembering(
      {
        targets: [
          target('agent', 'ann'),
          target('model', 'gpt'),
          target('agent', 'bob'),
          target('team', 'trip'),
        ],
        teams: [team('trip', agents('cem', 'dan'))],
      },
      { bob: [{ fails: 'ModelNotFound' }] },
    );
    expect((await play.ended()).outcome.phase).toBe('error');
    expect(play.asked.filter((name) => name.startsWith('memory.write')).toSorted()).toEqual([
      'memory.write.1',
      'memory.write.2',
      'memory.write.4',
    ]);
    expect(play.heard('memory.write.1')).toEqual([question, 'assistant: ann 1']);
    expect(play.heard('memory.write.2')).toEqual([question, 'assistant: gpt 1']);
    expect(play.heard('memory.write.4')).toEqual([question, 'assistant: cem 1', 'assistant: dan 1']);
  });

  test('is looked for, where it may have been remembered already, after what was held before', async () => {
    const play = await remembering({ targets: [target('agent', 'ann')] });
    await play.ended();
    const { workflowId } = play.handle;
    expect(await givenTo(theatre.client, workflowId, 'memory.write.1')).toMatchObject({ held: 1 });
  });

  test('is remembered with the tools that were used, and with what a nested team said', async () => {
    const play = await remembering(
      {
        targets: [target('team', 'outer')],
        teams: [
          team('outer', [...agents('ann'), target('team', 'inner')]),
          team('inner', agents('bob', 'cem')),
        ],
      },
      { ann: [{ tools: ['search'] }, 'done'], search: ['found'] },
    );
    await play.ended();
    expect(play.heard('memory.write.1')).toEqual([
      question,
      'assistant: ',
      'tool: found',
      'assistant: done',
      'assistant: bob 1',
      'assistant: cem 1',
    ]);
  });
});

describe('a memory', () => {
  test('that cannot be read fails whom it would have reminded, in the words of the contract', async () => {
    const play = await remembering(
      { targets: [target('agent', 'ann'), target('tool', 'search')] },
      { 'memory.read': [{ fails: 'MemoryRejected' }] },
    );
    const { outcome, failure } = await play.ended();
    expect(failure).toBe('MemoryRejected');
    expect(outcome.responses).toMatchObject([
      {
        phase: 'error',
        content: '',
        failure: {
          type: 'MemoryRejected',
          message:
            'unable to load initial messages: failed to get messages from memory: memory.read failed on purpose',
        },
      },
      { phase: 'done', content: 'search 1' },
    ]);
    expect(play.asked).not.toContain('ann');
  });

  test('that is down for a moment is asked again', async () => {
    const play = await remembering(
      { targets: [target('agent', 'ann')] },
      { 'memory.read': [{ fails: 'MemoryUnavailable' }, 'at last'] },
    );
    expect((await play.ended()).outcome.phase).toBe('done');
    expect(play.heard('ann')).toEqual(['user: at last', question]);
  });

  test('that cannot be written fails the target, which keeps its answer', async () => {
    const play = await remembering(
      { targets: [target('agent', 'ann'), target('agent', 'bob')] },
      { 'memory.write.1': [{ fails: 'MemoryRejected' }] },
    );
    expect((await play.ended()).outcome.responses).toMatchObject([
      {
        phase: 'error',
        content: 'ann 1',
        failure: {
          type: 'MemoryRejected',
          message: 'failed to save new messages to memory: memory.write.1 failed on purpose',
        },
      },
      { phase: 'done', content: 'bob 1' },
    ]);
  });

  test.each(['memory.read', 'memory.write.1'])(
    'that hangs in %s is in nobody’s way to cancel',
    async (call) => {
      const play = await remembering({ targets: [target('agent', 'ann')] }, { [call]: [{ hangs: true }] });
      await play.whenAsked(call);
      await play.handle.cancel();
      expect(await play.ended()).toMatchObject({
        status: 'CANCELLED',
        outcome: { responses: [{ phase: 'canceled', content: call === 'memory.read' ? '' : 'ann 1' }] },
      });
    },
  );

  test('that takes longer than the Query has ends it in time', async () => {
    const play = await remembering(
      { targets: [target('agent', 'ann')], timeoutMs: 6_000 },
      { 'memory.write.1': [{ hangs: true }] },
    );
    expect((await play.ended()).outcome.responses).toMatchObject([
      { phase: 'error', content: 'ann 1', failure: { type: 'TargetTimeout' } },
    ]);
  });

  test('that hangs takes the time of those who wait for it', async () => {
    const play = await remembering(
      { targets: [target('agent', 'ann'), target('model', 'gpt')], timeoutMs: 1500 },
      { 'memory.read': [{ hangs: true }] },
    );
    const late = { phase: 'error', content: '', failure: { type: 'TargetTimeout' } };
    expect((await play.ended()).outcome.responses).toMatchObject([late, late]);
    expect(play.asked.filter((name) => name !== 'memory.read')).toEqual([]);
    expect(play.told.map(({ reason }) => reason)).toContain('MemoryGetMessagesError');
  });

  test('that hangs keeps no Tool waiting', async () => {
    const play = await remembering(
      { targets: [target('agent', 'ann'), target('tool', 'search')] },
      { 'memory.read': [{ hangs: true }] },
    );
    await play.whenAsked('search');
    await play.handle.cancel();
    expect(await play.ended()).toMatchObject({ status: 'CANCELLED' });
  });
});
