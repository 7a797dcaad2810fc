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

type Expression = NonNullable<LabelSelector['matchExpressions']>[number];

function holds(
  { key, operator, values = [] }: Expression,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      throw new Unbuildable('QueryInvalid', `"${operator}" is not a valid label selector operator`);
  }
}
