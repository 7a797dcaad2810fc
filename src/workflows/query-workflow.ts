import { CancelledFailure, continueAsNew, upsertMemo } from '@temporalio/workflow';
import type {
  Carried,
  Failure,
  History,
  RunInput,
  RunOutcome,
  TargetOutcome,
  TargetUnderway,
  TeamState,
} from '../api/run.ts';
import type { TargetPlan } from '../api/snapshot.ts';
import { createBoundary, type Boundary } from './boundary.ts';
import { clip } from './clip.ts';
import { underDeadline } from './deadline.ts';
import { tellStart, tellTarget } from './events.ts';
import { endOfRun } from './failures.ts';
import { inOrder } from './in-order.ts';
import { judged } from './judgement.ts';
import { memorised, recalled, remembered, type Reading, type Recalled } from './memory.ts';
import type { TurnTaken } from './run-team.ts';
import { agentTurn, modelTurn, toolTurn } from './speakers.ts';
import { forTarget, openStage, thisRun, type Stage } from './stage.ts';
import { streamEnded } from './stream.ts';
import { planned, teamTurns } from './team-turns.ts';
import { carriedState } from './team-workflow.ts';
import { seenFromOutside } from './view.ts';

/** The answers of one run together; the server ends a run whose result is larger than 2 MiB without running any code. */
const contentBytesMax = 192 * 1024;

/**
 * One Query, from question to answers.
 *
 * Targets are asked concurrently, each under its own deadline; answers are kept in the order of the spec, and those
 * that arrived survive when another fails. Ends `Completed` with the outcome, `Failed` with the outcome as the
 * failure's first detail, or `Canceled` with the outcome in the memo, so that every list of runs tells the truth.
 */
export async function queryWorkflow(input: RunInput): Promise<RunOutcome> {
  const stage = openStage(input);
  const boundary = createBoundary();
  const progress: (TargetOutcome | TargetUnderway)[] = input.snapshot.targets.map(
    (_, index) => input.carried?.targets[index] ?? {},
  );

  if (!input.carried) tellStart(stage);
  const { history, held } = input.carried ?? {};
  const recalling = history ? { history, held } : await remembered(stage);

  const everyAnswer = inOrder(input.snapshot.targets, input.limits.concurrency, async (target, index) => {
    const soFar = progress[index] ?? {};
    if ('phase' in soFar) return soFar;

    const underway = { ...soFar, startedMs: soFar.startedMs ?? Date.now() };
    progress[index] = underway;
    boundary.begun();
    const outcome = await askTarget(stage, recalling, boundary, target, index, underway);
    boundary.ended();
    tellTarget(stage, outcome.target.type, outcome.target.name, outcome.phase !== 'done');
    return (progress[index] = outcome);
  });

  const responses = await Promise.race([everyAnswer, boundary.everyoneWaits()]);
  if (!responses) {
    const known = 'reading' in recalling ? await recalling.reading : recalling;
    return continueAsNew<typeof queryWorkflow>(nextRun(input, stage, boundary, known, progress));
  }
  if ('reading' in recalling) await recalling.end();
  await streamEnded(stage);
  return end(await concluded(stage, responses));
}

/** Evaluators hear the answers of a Query that is done (contract section 7.1). */
async function concluded(stage: Stage, answers: readonly TargetOutcome[]): Promise<RunOutcome> {
  const responses = fitting(answers);
  const phase = phaseOf(responses);
  const { evaluation } = stage.snapshot;
  if (phase !== 'done' || !evaluation) return { phase, responses, usage: stage.ledger.usage() };

  const { evaluations, isCanceled } = await judged(stage, evaluation, responses);
  return { phase: isCanceled ? 'canceled' : phase, responses, usage: stage.ledger.usage(), evaluations };
}

/** Asks one target; whatever happens to it, the outcome keeps what it had said by then. */
async function askTarget(
  stage: Stage,
  recalling: Recalled | Reading,
  boundary: Boundary,
  target: TargetPlan,
  index: number,
  { startedMs, state }: TargetUnderway & { readonly startedMs: number },
): Promise<TargetOutcome> {
  const { timeoutMs } = stage.snapshot;
  const name = `${target.type}/${target.name}`;

  const { value: turn, expired } = await underDeadline(
    startedMs + timeoutMs - Date.now(),
    `deadline of ${name}`,
    async () => {
      const between = (said: TeamState) => boundary.between(index, said);
      const memory = 'reading' in recalling ? await recalled(recalling, target) : recalling;
      return memorised(stage, index, memory, await takeFloor(stage, target, memory.history, between, state));
    },
  );
  const { type } = target;
  const answer = { target: { type, name: target.name }, content: turn.last?.content ?? '' };
  if (!turn.failure) return { ...answer, phase: 'done' };

  if (turn.failure.type !== 'RunCanceled') return { ...answer, phase: 'error', failure: turn.failure };
  return expired
    ? { ...answer, phase: 'error', failure: timedOut(name, timeoutMs) }
    : { ...answer, phase: 'canceled', failure: turn.failure };
}

async function takeFloor(
  run: Stage,
  target: TargetPlan,
  history: History,
  betweenTurns: (state: TeamState) => Promise<void>,
  soFar?: TeamState,
): Promise<TurnTaken> {
  const stage = forTarget(run, target);
  if (target.type === 'tool') return toolTurn(stage, target);
  if ('failure' in history) return { said: [], ends: false, failure: history.failure };

  switch (target.type) {
    case 'agent':
      return agentTurn(stage, planned(stage.snapshot.agents, target), history);
    case 'model':
      return modelTurn(stage, target, history);
    case 'team': {
      const { state, failure } = await teamTurns(
        stage,
        planned(stage.snapshot.teams, target),
        history,
        betweenTurns,
        soFar,
      );
      return { said: state.said, last: state.last, ends: false, failure };
    }
  }
}

const timedOut = (target: string, timeoutMs: number): Failure => ({
  type: 'TargetTimeout',
  message: `target ${target} did not finish within ${timeoutMs / 1000}s (spec.timeout): context deadline exceeded`,
});

const phaseOf = (responses: readonly TargetOutcome[]): RunOutcome['phase'] =>
  responses.some(({ phase }) => phase === 'canceled')
    ? 'canceled'
    : responses.some(({ phase }) => phase === 'error')
      ? 'error'
      : 'done';

function end(outcome: RunOutcome): RunOutcome {
  switch (outcome.phase) {
    case 'done':
      return outcome;
    case 'error':
      throw endOfRun(outcome.responses.find(({ failure }) => failure)?.failure as Failure, outcome);
    case 'canceled':
      upsertMemo({ outcome });
      throw new CancelledFailure('the Query was canceled; the memo `outcome` holds what was answered before');
  }
}

/** Each answer gets its share of the room; one that is cut says so and is whole in the history. */
function fitting(responses: readonly TargetOutcome[]): TargetOutcome[] {
  const share = Math.floor(contentBytesMax / Math.max(1, responses.length));
  return responses.map((response) => ({
    ...response,
    content: clip(response.content, share, '\n… [cut: the whole answer is in the run’s history]'),
  }));
}

function nextRun(
  { snapshot, ...input }: RunInput,
  { ledger }: Stage,
  { waiting }: Boundary,
  { history, held }: Recalled,
  progress: readonly (TargetOutcome | TargetUnderway)[],
): RunInput {
  const here = thisRun();
  const outcomes = fitting(progress.filter((target) => 'phase' in target));
  const targets = progress.map((target, index): TargetOutcome | TargetUnderway => {
    if ('phase' in target) return outcomes.shift() as TargetOutcome;
    const state = waiting.get(index);
    return state ? { ...target, state: carriedState(state, here) } : target;
  });
  const carried: Carried = {
    nextTurn: ledger.nextTurn(),
    usage: ledger.usage(),
    history: 'failure' in history ? history : seenFromOutside(history, here),
    ...(held !== undefined && { held }),
    targets,
  };
  return {
    ...input,
    snapshot: { ...snapshot, definitions: {}, definitionsAt: snapshot.definitionsAt ?? here },
    carried,
  };
}
