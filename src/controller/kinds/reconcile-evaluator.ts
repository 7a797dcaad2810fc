import { canonicalEvaluator } from '../../api/canonical-evaluator.ts';
import type { EvaluatorStatus } from '../../api/evaluator.ts';
import { isInvalid } from '../../api/problems.ts';
import type { Next, ObjectKey } from '../ports.ts';
import { selectorProblem } from '../snapshot/matches-selector.ts';
import type { AddressPorts } from './ports.ts';
import { reconcileAddress, type AddressKind } from './reconcile-address.ts';

const evaluator: AddressKind = {
  resolving: 'Resolving evaluator address',
  resolved: 'Evaluator address resolved successfully',
  read({ spec }) {
    const read = canonicalEvaluator(spec);
    if (isInvalid(read) || !read.selector) return read;

    const problem = selectorProblem(read.selector);
    return { address: read.address, unusable: problem && `Failed to process selector: ${problem}` };
  },
};

/** Keeps an Evaluator's status at its address, and at what is wrong with its selector (contract 7.2). */
export const reconcileEvaluator = (key: ObjectKey, ports: AddressPorts<EvaluatorStatus>): Promise<Next> =>
  reconcileAddress(key, evaluator, ports);
