import type { CanonicalEvaluation } from '../../api/canonical-evaluation.ts';
import type { EvaluationSpec, EvaluationStatus } from '../../api/evaluation.ts';
import type { Next } from '../ports.ts';
import { hasEnded } from './evaluation-status.ts';
import { labelValue, nameWithin } from './names.ts';
import type { EvaluationPorts, SeenEvaluation } from './ports.ts';

const childrenMax = 200;
/** How long a batch waits for the Evaluations it names. */
const patienceMs = 60_000;
const patienceStepMs = 1_000;
/** Children tell their parent when they change; this is for what was missed. */
const lookAgainMs = 10_000;

/**
 * Judges a batch by one child for each Evaluation it names: a copy of its type, config and evaluator. ARK's children are
 * placeholders; here they are what the batch says (contract section 7.3). At most `config.concurrency` are open at a time.
 */
export async function reconcileBatch(
  batch: SeenEvaluation,
  spec: CanonicalEvaluation,
  ports: EvaluationPorts,
): Promise<Next> {
  const references = spec.config.evaluations ?? [];
  if (references.length > childrenMax)
    return end(batch, `Batch evaluation has more than ${childrenMax} evaluations`, ports);

  const children = new Map(ports.evaluations.childrenOf(batch).map((child) => [child.name, child]));
  const missing = references.flatMap((reference, index) => {
    const name = childName(batch, index);
    return children.has(name) ? [] : [{ reference, index, name }];
  });
  const isLate = ports.now().getTime() - batch.createdAt.getTime() >= Math.max(spec.timeoutMs, patienceMs);
  const open = [...children.values()].filter((child) => !hasEnded(child));
  if (missing.length === 0 && open.length === 0) return finish(batch, [...children.values()], ports);
  if (isLate)
    return end(batch, `Batch evaluation did not end within ${spec.timeoutMs / 1_000}s (spec.timeout)`, ports);

  const room = Math.max(1, spec.config.concurrency) - open.length;
  const originals = missing.map(({ reference: { name, namespace = batch.namespace }, ...child }) => ({
    ...child,
    at: { namespace, name },
    original: ports.evaluations.get({ namespace, name }),
  }));
  for (const { original, at } of originals) {
    const problem = problemOf(original, at);
    if (problem) return waitOrEnd(batch, problem, original === undefined, ports);
  }
  for (const { original, name, index } of originals.slice(0, Math.max(room, 0))) {
    await ports.evaluations.create({
      namespace: batch.namespace,
      name,
      parent: batch,
      labels: { 'parent-evaluation': labelValue(batch.name), 'child-index': String(index) },
      spec: childSpec(original as SeenEvaluation, batch),
    });
  }
  await ports.evaluations.writeStatus(batch, {
    phase: 'running',
    message: 'Starting evaluation',
    passed: false,
    batchProgress: progressOf([...children.values()], references.length),
  });
  return { requeueAfterMs: lookAgainMs };
}

/** `<batch>-child-<i>` (contract section 7.3). */
const childName = ({ name }: SeenEvaluation, index: number): string => nameWithin(name, `-child-${index}`);

function problemOf(
  original: SeenEvaluation | undefined,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string | undefined {
  if (!original)
    return `Failed to fetch Evaluation: evaluation '${name}' not found in namespace '${namespace}'`;
  return written(original).type === 'batch'
    ? `Batch evaluation cannot contain evaluation '${name}': it is a batch itself`
    : undefined;
}

/** What the user wrote; a child is checked like any other Evaluation. */
const written = ({ spec }: SeenEvaluation): Partial<EvaluationSpec> => spec ?? {};

/** Names without a namespace mean the original's own. */
function childSpec(original: SeenEvaluation, batch: SeenEvaluation): object {
  const { type, config, timeout } = written(original);
  const evaluator = written(original).evaluator ?? written(batch).evaluator;
  const { ttl } = written(batch);
  const home = written(original).evaluator ? original.namespace : batch.namespace;
  const queryRef = config?.queryRef;
  return {
    ...(type && { type }),
    ...(evaluator && { evaluator: { ...evaluator, namespace: evaluator.namespace ?? home } }),
    config: {
      ...config,
      ...(queryRef && { queryRef: { ...queryRef, namespace: queryRef.namespace ?? original.namespace } }),
    },
    ...(timeout && { timeout }),
    ...(ttl && { ttl }),
  };
}

async function finish(
  batch: SeenEvaluation,
  children: readonly SeenEvaluation[],
  ports: EvaluationPorts,
): Promise<Next> {
  const scores = children.flatMap(({ status }) =>
    status.phase === 'done' ? [Number(status.score ?? 0)] : [],
  );
  const mean = scores.length === 0 ? 0 : scores.reduce((sum, score) => sum + score, 0) / scores.length;
  const passed = children.filter(({ status }) => status.passed).length;
  const sum = (field: keyof NonNullable<EvaluationStatus['tokenUsage']>): number =>
    children.reduce((total, { status }) => total + (status.tokenUsage?.[field] ?? 0), 0);

  await ports.evaluations.writeStatus(batch, {
    phase: 'done',
    message: `Batch evaluation completed: ${passed}/${children.length} children passed`,
    score: mean.toFixed(3),
    passed: passed === children.length,
    tokenUsage: {
      promptTokens: sum('promptTokens'),
      completionTokens: sum('completionTokens'),
      totalTokens: sum('totalTokens'),
    },
    batchProgress: progressOf(children, children.length),
  });
  return { requeueAfterMs: lookAgainMs };
}

function progressOf(children: readonly SeenEvaluation[], total: number): EvaluationStatus['batchProgress'] {
  const inPhase = (...phases: readonly string[]): number =>
    children.filter(({ status: { phase = 'pending' } }) => phases.includes(phase)).length;
  return {
    total,
    completed: inPhase('done'),
    failed: inPhase('error', 'canceled'),
    running: inPhase('pending', 'running'),
    childEvaluations: children
      .toSorted((a, b) => indexOf(a) - indexOf(b))
      .map(({ name, status: { phase = 'pending', score, passed, message } }) => ({
        name,
        phase,
        ...(score !== undefined && { score }),
        ...(passed !== undefined && { passed }),
        ...(message !== undefined && { message }),
      })),
  };
}

const indexOf = ({ labels }: SeenEvaluation): number => Number(labels['child-index'] ?? 0);

async function waitOrEnd(
  batch: SeenEvaluation,
  problem: string,
  mayCome: boolean,
  ports: EvaluationPorts,
): Promise<Next> {
  const waitedMs = ports.now().getTime() - batch.createdAt.getTime();
  if (!mayCome || waitedMs >= patienceMs) return end(batch, problem, ports);
  await ports.evaluations.writeStatus(batch, {
    phase: 'pending',
    message: `Waiting: ${problem}`,
    passed: false,
  });
  return { requeueAfterMs: patienceStepMs };
}

async function end(batch: SeenEvaluation, message: string, ports: EvaluationPorts): Promise<Next> {
  await ports.evaluations.writeStatus(batch, { phase: 'error', message, passed: false });
  return { requeueAfterMs: lookAgainMs };
}
