import type { LabelSelector } from '../../api/values.ts';
import { Unbuildable } from './unbuildable.ts';

/** Kubernetes' own meaning of a label selector; an empty one matches everything. */
export function matchesSelector(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => holds(expression, labels))
  );
}

/** Why nothing could be matched by the selector, whatever its labels. */
export function selectorProblem({ matchExpressions = [] }: LabelSelector): string | undefined {
  const unknown = matchExpressions.find(({ operator }) => !operators.has(operator));
  return unknown && unknownOperator(unknown);
}

type Expression = NonNullable<LabelSelector['matchExpressions']>[number];

const operators: ReadonlyMap<string, (value: string | undefined, values: readonly string[]) => boolean> =
  new Map([
    ['In', (value, values) => value !== undefined && values.includes(value)],
    ['NotIn', (value, values) => value === undefined || !values.includes(value)],
    ['Exists', (value) => value !== undefined],
    ['DoesNotExist', (value) => value === undefined],
  ]);

function holds(expression: Expression, labels: Readonly<Record<string, string>>): boolean {
  const isTrue = operators.get(expression.operator);
  if (!isTrue) throw new Unbuildable('QueryInvalid', unknownOperator(expression));
  return isTrue(labels[expression.key], expression.values ?? []);
}

const unknownOperator = ({ operator }: Expression): string =>
  `"${operator}" is not a valid label selector operator`;
