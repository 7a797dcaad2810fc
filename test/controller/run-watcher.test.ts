import type { ClosedRun, OpenRun, Run, RunOwner } from '../../src/controller/ports.ts';
import { watchRuns } from '../../src/controller/run-watcher.ts';
import type { RunWatcher, RunWatcherSettings } from '../../src/controller/run-watcher.ts';
import type { ClosedExecution, TemporalRuns } from '../../src/controller/temporal-runs.ts';
import { workflowIdOf } from '../../src/controller/workflow-id.ts';
import { waitFor } from '../e2e/stack.ts';

const startedAt = new Date(0);
const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, modelCalls: 0, toolCalls: 0 };
const open = (runId: string): OpenRun => ({ state: 'open', runId, startedAt });
const closed = (runId: string): ClosedRun => ({
  state: 'closed',
  runId,
  startedAt,
  closedAt: startedAt,
  outcome: { phase: 'done', responses: [], usage },
});
const owner = (name: string): RunOwner => ({ namespace: 'default', name, uid: name });

/** Temporal as a watcher sees it: runs that are open until told otherwise. */
class Runs implements TemporalRuns {
  readonly runs = new Map<string, Run>();
  readonly calls: string[] = [];
  polls = 0;
  pollsMost = 0;
  refusing = false;
  /** What a list answers. */
  readonly closed: ClosedExecution[] = [];
  readonly lists: Date[] = [];
  private readonly ends = new Map<string, (end: ClosedRun | 'look again') => void>();

  async start({ name }: RunOwner): Promise<OpenRun> {
    this.runs.set(name, open('r1'));
    return open('r1');
  }
  async look({ name }: RunOwner): Promise<Run> {
    this.calls.push(`look ${name}`);
    return this.runs.get(name) ?? { state: 'absent' };
  }
  async cancel(): Promise<void> {}
  async terminate(): Promise<void> {}
  async waitForClose(
    { name }: RunOwner,
    run: OpenRun,
    signal: AbortSignal,
  ): Promise<ClosedRun | 'look again'> {
    this.calls.push(`poll ${name} ${run.runId}`);
    if (this.refusing) throw new Error('concurrent poller limit exceeded');
    if (this.runs.get(name)?.state === 'closed') return closed(run.runId);
    this.pollsMost = Math.max(this.pollsMost, ++this.polls);
    try {
      return await new Promise((resolve, reject) => {
        this.ends.set(name, resolve);
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    } finally {
      this.polls--;
    }
  }
  async closedSince(since: Date): Promise<readonly ClosedExecution[]> {
    this.lists.push(since);
    return this.closed;
  }
  /** Closes a run, and tells whoever polls for it. */
  close(name: string, end: ClosedRun | 'look again' = closed('r1'), then: Run = closed('r1')): void {
    this.runs.set(name, then);
    this.ends.get(name)?.(end);
  }
}

let watcher: RunWatcher | undefined;
afterEach(() => watcher?.stop());

function watching(settings: RunWatcherSettings = {}): { runs: Runs; changed: string[]; watcher: RunWatcher } {
  const runs = new Runs();
  const changed: string[] = [];
  watcher = watchRuns(runs, ({ name }) => changed.push(name), { lookAgainMs: 60_000, ...settings });
  return { runs, changed, watcher };
}

const start = (from: RunWatcher, name: string): Promise<Run> => from.start(owner(name), {} as never, 'hash');

test('tells of an end once, and knows it without another call', async () => {
  const { runs, changed, watcher: watched } = watching();
  await start(watched, 'a');

  runs.close('a');
  await waitFor(() => changed.length > 0, { what: 'a change' });

  expect(await watched.look(owner('a'))).toEqual(closed('r1'));
  expect(changed).toEqual(['a']);
  expect(runs.calls).toEqual(['poll a r1']);
});

test('answers for an open run without a call', async () => {
  const { runs, watcher: watched } = watching();
  await start(watched, 'a');

  expect(await watched.look(owner('a'))).toEqual(open('r1'));
  expect(runs.calls).toEqual(['poll a r1']);
});

test('follows a run it hears of only after a restart', async () => {
  const { runs, changed, watcher: watched } = watching();
  runs.runs.set('a', open('r1'));

  await watched.look(owner('a'));
  runs.close('a');
  await waitFor(() => changed.length > 0, { what: 'a change' });

  expect(await watched.look(owner('a'))).toEqual(closed('r1'));
});

test('follows a reset run under its new run id', async () => {
  const { runs, changed, watcher: watched } = watching();
  await start(watched, 'a');

  runs.close('a', 'look again', open('r2'));
  await waitFor(() => runs.calls.includes('poll a r2'), { what: 'a poll of the new run' });
  expect(await watched.look(owner('a'))).toEqual(open('r2'));

  runs.close('a', closed('r2'), closed('r2'));
  await waitFor(() => changed.length >= 2, { what: 'the end' });
  expect(await watched.look(owner('a'))).toEqual(closed('r2'));
});

test('polls for the oldest, and finds the ends of the others by looking', async () => {
  const { runs, changed, watcher: watched } = watching({ longPollsMax: 1, lookAgainMs: 100 });
  for (const name of ['a', 'b', 'c']) await start(watched, name);

  runs.close('c');
  await waitFor(() => changed.includes('c'), { what: 'the end of c' });
  runs.close('a');
  await waitFor(() => runs.calls.includes('poll b r1'), { what: 'a poll of b' });

  expect(runs.calls).not.toContain('poll c r1');
  expect(runs.pollsMost).toBe(1);
});

describe('runs without a long-poll', () => {
  const listed = { longPollsMax: 1, listAgainMs: 20 };

  test('are found in the list of what was closed, whoever was opened first', async () => {
    const { runs, changed, watcher: watched } = watching(listed);
    for (const name of ['a', 'b', 'c']) await start(watched, name);

    runs.close('c');
    runs.closed.push({ workflowId: workflowIdOf(owner('c')), runId: 'r1', closedAt: new Date() });
    await waitFor(() => changed.includes('c'), { what: 'the end of c' });

    expect(await watched.look(owner('c'))).toEqual(closed('r1'));
    expect(runs.calls).toEqual(['poll a r1', 'poll c r1']);
  });

  test('are not ended by an earlier run of theirs, nor by a run of somebody else', async () => {
    const { runs, changed, watcher: watched } = watching(listed);
    for (const name of ['a', 'b']) await start(watched, name);
    const closedAt = new Date();
    runs.closed.push({ workflowId: workflowIdOf(owner('b')), runId: 'r0', closedAt });
    runs.closed.push({ workflowId: workflowIdOf(owner('other')), runId: 'r1', closedAt });

    const lists = runs.lists.length;
    await waitFor(() => runs.lists.length > lists + 2, { what: 'lists' });

    expect(changed).toEqual([]);
    expect(runs.calls).toEqual(['poll a r1']);
  });

  test('go on being followed where a list was wrong about their end', async () => {
    const { runs, changed, watcher: watched } = watching(listed);
    for (const name of ['a', 'b']) await start(watched, name);
    runs.closed.push({ workflowId: workflowIdOf(owner('b')), runId: 'r1', closedAt: new Date() });
    await waitFor(() => runs.calls.includes('poll b r1'), { what: 'a poll of b' });

    runs.close('b', 'look again', open('r2'));
    await waitFor(() => changed.includes('b'), { what: 'the new run of b' });
    expect(await watched.look(owner('b'))).toEqual(open('r2'));

    runs.close('b', closed('r2'), closed('r2'));
    runs.closed.push({ workflowId: workflowIdOf(owner('b')), runId: 'r2', closedAt: new Date() });
    await waitFor(async () => (await watched.look(owner('b'))).state === 'closed', { what: 'the end of b' });
  });

  test('are listed from a little before the last end on', async () => {
    const { runs, watcher: watched } = watching(listed);
    for (const name of ['a', 'b']) await start(watched, name);
    await waitFor(() => runs.lists.length > 0, { what: 'the first list' });
    expect(runs.lists[0]?.getTime()).toBeLessThanOrEqual(Date.now() - 60_000);

    const closedAt = new Date();
    runs.closed.push({ workflowId: 'query:default:other:1', runId: 'r1', closedAt });

    const since = closedAt.getTime() - 3_000;
    await waitFor(() => runs.lists.at(-1)?.getTime() === since, { what: 'a later list' });
  });
});

test('nothing is listed while every run has a long-poll', async () => {
  const { runs, watcher: watched } = watching({ listAgainMs: 1, lookAgainMs: 10 });
  await start(watched, 'a');

  await waitFor(() => runs.calls.filter((call) => call === 'look a').length > 2, { what: 'looks' });

  expect(runs.lists).toEqual([]);
});

test('finds ends by looking while polls are refused', async () => {
  const { runs, changed, watcher: watched } = watching({ lookAgainMs: 100 });
  runs.refusing = true;
  await start(watched, 'a');

  runs.close('a');

  await waitFor(() => changed.includes('a'), { what: 'the end of a' });
  expect(await watched.look(owner('a'))).toEqual(closed('r1'));
});

test('tells of progress, but not of looks that found nothing new', async () => {
  const { runs, changed, watcher: watched } = watching({ lookAgainMs: 50 });
  await start(watched, 'a');
  runs.runs.set('a', { ...open('r1'), progress: { turn: 2, speaker: 'bot', tokens: 9 } });

  await waitFor(() => changed.length > 0, { what: 'progress' });
  const looks = runs.calls.length;
  await waitFor(() => runs.calls.length > looks + 1, { what: 'two more looks' });

  expect(changed).toEqual(['a']);
});

test('keeps nothing of a run that is forgotten', async () => {
  const { runs, watcher: watched } = watching();
  await start(watched, 'a');

  watched.forget(owner('a'));
  await waitFor(() => runs.polls === 0, { what: 'the poll to end' });

  expect(watched.counts).toEqual({ followed: 0, longPolled: 0 });
});
