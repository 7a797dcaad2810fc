import { canonicalEvaluator } from '../../api/canonical-evaluator.ts';
import type { EvaluatorSpec } from '../../api/evaluator.ts';
import { isInvalid } from '../../api/problems.ts';
import type { Next, ObjectKey } from '../ports.ts';
import { matchesSelector } from '../snapshot/matches-selector.ts';
import { Unbuildable } from '../snapshot/unbuildable.ts';
import { labelValue, nameWithin } from './names.ts';
import type { EvaluationPorts, JudgedQuery, NewEvaluation, SeenEvaluation, SeenEvaluator } from './ports.ts';

const againMs = 500;

const annotation = {
  generation: 'ark.mckinsey.com/query-generation',
  phase: 'ark.mckinsey.com/query-phase',
  /** Ours: a Query created again under the same name is another one. */
  uid: 'ark.mckinsey.com/query-uid',
} as const;

/**
 * Sees to it that a finished Query has one Evaluation of each Evaluator of its namespace that selects it (contract
 * section 7.2), made for the Query as it is: one made for an earlier generation, or for another Query of this name, is
 * deleted and made again, which also clears what it had found.
 */
export async function judgeQuery(key: ObjectKey, ports: EvaluationPorts): Promise<Next> {
  const query = ports.query(key);
  if (!query || query.isDeleted || query.phase !== 'done') return 'settled';

  let next: Next = 'settled';
  for (const evaluator of ports.evaluatorsIn(query.namespace)) {
    if (!selects(evaluator, query)) continue;
    const wanted = evaluationBy(evaluator, query);
    const existing = ports.evaluations.get(wanted);
    if (!existing) await ports.evaluations.create(wanted);
    else if (isOurs(existing) && isStale(existing, wanted)) {
      if (!existing.isDeleted) await ports.evaluations.remove(existing);
      next = { requeueAfterMs: againMs };
    }
  }
  return next;
}

export function selects({ spec, status }: SeenEvaluator, { labels }: JudgedQuery): boolean {
  const evaluator = canonicalEvaluator(spec);
  if (isInvalid(evaluator) || !evaluator.selector || status.phase !== 'ready') return false;
  try {
    return matchesSelector(evaluator.selector, labels);
  } catch (error) {
    // The Evaluator's own status tells of it.
    if (error instanceof Unbuildable) return false;
    throw error;
  }
}

/** Parameters from Secrets and ConfigMaps stay references, which are resolved when the evaluator is asked. */
function evaluationBy(evaluator: SeenEvaluator, query: JudgedQuery): NewEvaluation {
  const { namespace, name } = evaluator;
  const { parameters } = (evaluator.spec ?? {}) as Partial<EvaluatorSpec>;
  return {
    namespace,
    name: nameWithin(`${name}-${query.name}`, '-eval'),
    labels: {
      'ark.mckinsey.com/evaluator': labelValue(name),
      'ark.mckinsey.com/query': labelValue(query.name),
      'ark.mckinsey.com/auto': 'true',
    },
    annotations: {
      [annotation.generation]: String(query.generation),
      [annotation.phase]: query.phase,
      [annotation.uid]: query.uid,
    },
    spec: {
      type: 'query',
      config: { queryRef: { name: query.name, namespace: query.namespace } },
      evaluator: { name, namespace, ...(parameters?.length && { parameters }) },
    },
  };
}

const isOurs = ({ labels }: SeenEvaluation): boolean => labels['ark.mckinsey.com/auto'] === 'true';

/** An Evaluation made by ARK has no uid, and is taken to be of this Query. */
const isStale = ({ annotations }: SeenEvaluation, wanted: NewEvaluation): boolean =>
  Object.entries(wanted.annotations ?? {}).some(
    ([key, value]) => (annotations[key] ?? (key === annotation.uid ? value : '')) !== value,
  );
