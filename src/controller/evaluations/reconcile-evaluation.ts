import { canonicalEvaluation } from '../../api/canonical-evaluation.ts';
import type { CanonicalEvaluation } from '../../api/canonical-evaluation.ts';
import type { EvaluationStatus } from '../../api/evaluation.ts';
import { isInvalid } from '../../api/problems.ts';
import type { Next, ObjectKey } from '../ports.ts';
import { annotationsOf } from './evaluation-annotations.ts';
import { endedStatus, hasEnded } from './evaluation-status.ts';
import type { EvaluationPorts, EvaluationRun, SeenEvaluation } from './ports.ts';
import { prepareEvaluation } from './prepare-evaluation.ts';
import { reconcileBatch } from './reconcile-batch.ts';

/** How long an Evaluation waits for what it names: `kubectl apply -f folder` may create it first. */
const patienceMs = 60_000;
const patienceStepMs = 1_000;
/** How soon an open run is looked at again: a part of its age, so that long ones cost little. */
const lookAgainMs = { min: 500, max: 5_000, partOfAge: 0.25 } as const;
const timerMsMax = 6 * 3_600_000;

/**
 * Makes one Evaluation true: its evaluator is asked by a workflow, once however often this is called, and its status
 * says what came of it (contract section 7.3). A batch is judged by Evaluations of its own. Rejects only for what a later
 * call may find healed.
 */
export async function reconcileEvaluation(key: ObjectKey, ports: EvaluationPorts): Promise<Next> {
  await endRunsOfVanished(key, ports);

  const evaluation = ports.evaluations.get(key);
  if (!evaluation || evaluation.isDeleted) return 'settled';

  const spec = canonicalEvaluation(evaluation.spec);
  if (hasEnded(evaluation)) return keepUntilExpiry(evaluation, spec, ports);
  if (isInvalid(spec)) return end(evaluation, spec.problems[0] ?? 'invalid spec', ports);
  if (spec.timeoutMs === 0) return end(evaluation, 'spec.timeout leaves no time', ports);

  return spec.type === 'batch' ? reconcileBatch(evaluation, spec, ports) : judge(evaluation, spec, ports);
}

async function judge(
  evaluation: SeenEvaluation,
  spec: CanonicalEvaluation,
  ports: EvaluationPorts,
): Promise<Next> {
  const known = evaluation.status.phase === 'running' ? await ports.runs.look(evaluation) : absent;
  return known.state === 'absent' ? begin(evaluation, spec, ports) : follow(evaluation, spec, known, ports);
}

const absent: EvaluationRun = { state: 'absent' };

async function begin(
  evaluation: SeenEvaluation,
  spec: CanonicalEvaluation,
  ports: EvaluationPorts,
): Promise<Next> {
  const prepared = await prepareEvaluation(evaluation, spec, ports);
  if ('input' in prepared)
    return follow(evaluation, spec, await ports.runs.start(evaluation, prepared.input), ports);

  // A start whose reply was lost has happened: what changed since then must not hide its run.
  const started = await ports.runs.look(evaluation);
  if (started.state !== 'absent') return follow(evaluation, spec, started, ports);

  const waitMs = prepared.waits === 'long' ? Math.max(patienceMs, spec.timeoutMs) : patienceMs;
  if (!prepared.waits || ageMs(evaluation, ports) >= waitMs) return end(evaluation, prepared.message, ports);
  await ports.evaluations.writeStatus(evaluation, {
    phase: 'pending',
    message: `Waiting: ${prepared.message}`,
    passed: false,
  });
  return { requeueAfterMs: patienceStepMs };
}

async function follow(
  evaluation: SeenEvaluation,
  spec: CanonicalEvaluation,
  run: EvaluationRun,
  ports: EvaluationPorts,
): Promise<Next> {
  const { evaluations, now } = ports;
  if (run.state !== 'closed') {
    await evaluations.writeStatus(evaluation, {
      phase: 'running',
      message: 'Starting evaluation',
      passed: false,
    });
    const openMs = run.state === 'open' ? now().getTime() - run.startedAt.getTime() : 0;
    const { min, max, partOfAge } = lookAgainMs;
    return { requeueAfterMs: Math.min(Math.max(openMs * partOfAge, min), max) };
  }
  // Annotations first: whoever waits for `done` finds them there.
  if ('score' in run.end) await evaluations.annotate(evaluation, annotationsOf(run.end));
  return finish(evaluation, endedStatus(spec, run), ports);
}

const end = (evaluation: SeenEvaluation, message: string, ports: EvaluationPorts): Promise<Next> =>
  finish(evaluation, { phase: 'error', message, passed: false }, ports);

async function finish(
  evaluation: SeenEvaluation,
  status: EvaluationStatus,
  ports: EvaluationPorts,
): Promise<Next> {
  await ports.evaluations.writeStatus(evaluation, status);
  return keepUntilExpiry(evaluation, canonicalEvaluation(evaluation.spec), ports);
}

/** `spec.ttl` counts from the creation; an Evaluation that has not ended is never deleted. */
async function keepUntilExpiry(
  evaluation: SeenEvaluation,
  spec: ReturnType<typeof canonicalEvaluation>,
  { evaluations, now }: EvaluationPorts,
): Promise<Next> {
  const ttlMs = isInvalid(spec) ? ttlMsDefault : spec.ttlMs;
  const leftMs = evaluation.createdAt.getTime() + ttlMs - now().getTime();
  if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, timerMsMax) };

  await evaluations.remove(evaluation);
  return 'settled';
}

/** Contract section 1.10: 720h. */
const ttlMsDefault = 720 * 3_600_000;

/** There is no finalizer: should nobody look, the run ends by its own timeout, and changes nothing. */
async function endRunsOfVanished(key: ObjectKey, { evaluations, runs }: EvaluationPorts): Promise<void> {
  for (const evaluation of evaluations.vanished(key)) {
    if (!hasEnded(evaluation)) await runs.cancel(evaluation);
    evaluations.forgetVanished(evaluation);
  }
}

const ageMs = ({ createdAt }: SeenEvaluation, { now }: EvaluationPorts): number =>
  now().getTime() - createdAt.getTime();
