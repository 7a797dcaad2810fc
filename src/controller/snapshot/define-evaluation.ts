import type { CanonicalQuery } from '../../api/canonical-query.ts';
import { canonicalEvaluator } from '../../api/canonical-evaluator.ts';
import { group, queryKind } from '../../api/kinds.ts';
import type { QueriedDefinition, QuestionDefinition, Snapshot } from '../../api/snapshot.ts';
import { listMax } from '../../api/values.ts';
import type { SeenQuery } from '../ports.ts';
import { shown } from './definitions.ts';
import type { Definition } from './definitions.ts';
import { define } from './draft.ts';
import type { Draft } from './draft.ts';
import { matchesSelector } from './matches-selector.ts';
import { resolveValue } from './resolve-values.ts';
import { Unbuildable, valid, within } from './unbuildable.ts';

/**
 * Who judges the answers (contract section 7.1): the evaluators of the spec in its order, or those that its selector
 * matches in the Query's namespace, by name. One that is missing is told before anything is asked.
 */
export async function defineEvaluation(
  query: SeenQuery,
  spec: CanonicalQuery,
  question: QuestionDefinition,
  draft: Draft,
): Promise<Snapshot['evaluation']> {
  const found = await evaluatorsOf(query, spec, draft);
  if (found.length === 0) return undefined;
  if (found.length > listMax.evaluators) {
    throw new Unbuildable(
      'QueryInvalid',
      `is judged by ${found.length} evaluators; at most ${listMax.evaluators} can be asked`,
    );
  }
  return {
    queried: define(draft, queriedBy(query, question, draft)),
    evaluators: await Promise.all(found.map((one) => defineEvaluator(one, draft))),
  };
}

async function evaluatorsOf(
  { namespace }: SeenQuery,
  { evaluators, evaluatorSelector }: CanonicalQuery,
  { read }: Draft,
): Promise<readonly Definition[]> {
  if (!evaluatorSelector) {
    return Promise.all(
      evaluators.map((ref) =>
        within(`failed to get evaluator ${ref.name}: `, () =>
          read.get('evaluators', { namespace: ref.namespace || namespace, name: ref.name }),
        ),
      ),
    );
  }
  const all = await within('failed to resolve evaluator selector: ', () =>
    read.list('evaluators', namespace),
  );
  return all.filter(({ labels }) => matchesSelector(evaluatorSelector, labels));
}

async function defineEvaluator(found: Definition, draft: Draft) {
  const { namespace, name } = found;
  const evaluator = valid(`evaluator ${shown(found)}`, canonicalEvaluator(found.spec));
  const address = await within(`failed to resolve evaluator address: `, () =>
    resolveValue(evaluator.address, namespace, draft.read),
  );
  const definition = define(draft, { kind: 'evaluator', namespace, name, address, access: draft.access });
  return { name, definition };
}

/** The Query as evaluators are shown it. */
function queriedBy(
  { namespace, name, uid, labels, annotations, createdAt, spec: { input, ...spec } }: SeenQuery,
  question: QuestionDefinition,
  draft: Draft,
): QueriedDefinition {
  const isAsked = 'text' in question.question && question.question.text === input;
  return {
    kind: 'queried',
    query: {
      apiVersion: `${group}/${queryKind.version}`,
      kind: queryKind.kind,
      metadata: { namespace, name, uid, labels, annotations, creationTimestamp: createdAt.toISOString() },
      spec: isAsked ? spec : { input, ...spec },
    },
    ...(isAsked && { input: define(draft, question) }),
  };
}
