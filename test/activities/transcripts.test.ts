import fc from 'fast-check';
import { asStep } from '../../src/activities/context.ts';
import { createTranscripts, type Transcripts } from '../../src/activities/transcripts.ts';
import type { Message, View } from '../../src/api/transcript.ts';
import { cancellation, FakeRuns, fakeRun, inActivity, type Attempt } from '../fakes/activity.ts';

const said = (name: string, count: number): Message[] =>
  Array.from({ length: count }, (_, slot) => ({ role: 'assistant', name, content: `${name} ${slot}` }));

const read = (transcripts: Transcripts, attempt: Attempt, view: View) =>
  inActivity(attempt, () => asStep((step) => transcripts.read(step, view)));

test('any view reads as what the runs keep, whatever is remembered and however it is paged', async () => {
  const root = fakeRun('root', said('root', 12));
  const child = fakeRun('child', said('child', 12));
  root.slots[5] = [];
  const segment = fc
    .record({ run: fc.constantFrom(undefined, root.ref, child.ref), from: fc.nat(12), to: fc.nat(12) })
    .filter(({ from, to }) => from <= to);
  const views = fc.array(fc.array(segment, { maxLength: 4 }), { minLength: 1, maxLength: 4 });

  await fc.assert(
    fc.asyncProperty(
      views,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 5_000 }),
      async (asked, page, bytesMax) => {
        const runs = new FakeRuns(root, child);
        runs.slotsPerPage = page;
        const transcripts = createTranscripts({ bytesMax });
        for (const view of asked) {
          const expected = view.flatMap(({ run, from, to }) =>
            (run === child.ref ? child : root).slots.slice(from, to).flat(),
          );
          expect(await read(transcripts, { run: root.ref, runs }, view)).toEqual(expected);
        }
      },
    ),
    { numRuns: 150 },
  );
});

test('what was read is not asked for again, and only what is missing is', async () => {
  const run = fakeRun('r', said('bot', 10));
  const runs = new FakeRuns(run);
  const transcripts = createTranscripts();
  await read(transcripts, { run: run.ref, runs }, [{ from: 0, to: 4 }]);
  await read(transcripts, { run: run.ref, runs }, [{ from: 0, to: 6 }]);
  await read(transcripts, { run: run.ref, runs }, [{ from: 1, to: 5 }]);
  expect(runs.queries).toEqual(['transcript r 0 4', 'transcript r 4 6']);
});

test('a hundred steps that miss the same messages ask once', async () => {
  const run = fakeRun('r', said('bot', 10));
  const runs = new FakeRuns(run);
  const transcripts = createTranscripts();
  const all = await Promise.all(
    Array.from({ length: 100 }, () => read(transcripts, { run: run.ref, runs }, [{ from: 0, to: 10 }])),
  );
  expect(all.every((messages) => messages.length === 10)).toBe(true);
  expect(runs.queries).toEqual(['transcript r 0 10']);
});

test('a run is never given what its predecessor said in the same slot', async () => {
  const before = fakeRun('before', said('old', 1));
  const after = { ...fakeRun('after', said('new', 1)), ref: { ...before.ref, runId: 'after' } };
  const runs = new FakeRuns(before, after);
  const transcripts = createTranscripts();
  await read(transcripts, { run: before.ref, runs }, [{ from: 0, to: 1 }]);
  expect(await read(transcripts, { run: after.ref, runs }, [{ from: 0, to: 1 }])).toEqual(said('new', 1));
});

test('a slot that is still empty is asked for again', async () => {
  const run = fakeRun('r', said('bot', 1));
  run.slots[0] = [];
  const runs = new FakeRuns(run);
  const transcripts = createTranscripts();
  expect(await read(transcripts, { run: run.ref, runs }, [{ from: 0, to: 1 }])).toEqual([]);
  run.slots[0] = said('bot', 1);
  expect(await read(transcripts, { run: run.ref, runs }, [{ from: 0, to: 1 }])).toEqual(said('bot', 1));
});

test('a run that does not answer, or has not got that far, may answer the next attempt', async () => {
  const run = fakeRun('r', said('bot', 2));
  const runs = new FakeRuns(run);
  const transcripts = createTranscripts();
  const failure = { type: 'TranscriptUnavailable', nonRetryable: false };

  runs.failing = () => new Error('deadline exceeded');
  await expect(read(transcripts, { run: run.ref, runs }, [{ from: 0, to: 2 }])).rejects.toMatchObject(
    failure,
  );
  runs.failing = () => undefined;
  await expect(read(transcripts, { run: run.ref, runs }, [{ from: 0, to: 3 }])).rejects.toMatchObject(
    failure,
  );
  expect(await read(transcripts, { run: run.ref, runs }, [{ from: 0, to: 2 }])).toHaveLength(2);
});

test('a cancel ends the wait of one step, not of the others', async () => {
  const run = fakeRun('r', said('bot', 2));
  const runs = new FakeRuns(run);
  const transcripts = createTranscripts();
  const caller = new AbortController();
  const cancelled = read(transcripts, { run: run.ref, runs, signal: caller.signal }, [{ from: 0, to: 2 }]);
  const other = read(transcripts, { run: run.ref, runs }, [{ from: 0, to: 2 }]);
  const reason = cancellation();
  caller.abort(reason);
  await expect(cancelled).rejects.toBe(reason);
  expect(await other).toHaveLength(2);
  expect(runs.queries).toHaveLength(1);
});

test('an answer is remembered only while the server surely waits for it', async () => {
  const run = fakeRun('r', said('kept', 1));
  const runs = new FakeRuns(run);
  const transcripts = createTranscripts();
  const heard: Message = { role: 'assistant', content: 'heard here' };
  const view = [{ from: 0, to: 1 }];
  const caller = new AbortController();

  const remember = (attempt: Attempt) =>
    inActivity(attempt, () => asStep(async (step) => transcripts.remember(step, 0, [heard])));

  caller.abort(cancellation());
  await remember({ run: run.ref, runs, signal: caller.signal });
  expect(await read(transcripts, { run: run.ref, runs }, view)).toEqual(said('kept', 1));

  await remember({ run: run.ref, runs });
  expect(await read(transcripts, { run: run.ref, runs }, view)).toEqual([heard]);

  await inActivity({ run: run.ref, runs }, () => asStep(async (step) => transcripts.forget(step, 0)));
  expect(await read(transcripts, { run: run.ref, runs }, view)).toEqual(said('kept', 1));
});
