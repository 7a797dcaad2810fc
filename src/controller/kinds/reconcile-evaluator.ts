import { canonicalEvaluator } from '../../api/canonical-evaluator.ts';
import type { EvaluatorStatus } from '../../api/evaluator.ts';
import type { Next, ObjectKey } from '../ports.ts';
import type { AddressPorts } from './ports.ts';
import { reconcileAddress, type AddressKind } from './reconcile-address.ts';

const evaluator: AddressKind = {
  resolving: 'Resolving evaluator address',
  resolved: 'Evaluator address resolved successfully',
  read: ({ spec }) => canonicalEvaluator(spec),
};

/** Keeps an Evaluator's status at its address (contract 7.2). */
export const reconcileEvaluator = (key: ObjectKey, ports: AddressPorts<EvaluatorStatus>): Promise<Next> =>
  reconcileAddress(key, evaluator, ports);
