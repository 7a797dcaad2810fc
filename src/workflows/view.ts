import type { RunRef, Segment, View } from '../api/transcript.ts';

/** One view after another; stretches that touch become one, so that a view grows with its gaps, not its length. */
export const join = (...views: readonly View[]): View => views.flat().reduce(append, []);

function append(view: View, segment: Segment): View {
  const last = view.at(-1);
  return last && sameRun(last.run, segment.run) && last.to === segment.from
    ? [...view.slice(0, -1), { ...last, to: segment.to }]
    : [...view, segment];
}

const sameRun = (one: RunRef | undefined, other: RunRef | undefined): boolean => one?.runId === other?.runId;

/** The same view, as another run has to write it: stretches of this run's own log are given its name. */
export const seenFromOutside = (view: View, run: RunRef): View =>
  view.map((segment) => ({ run, ...segment }));
