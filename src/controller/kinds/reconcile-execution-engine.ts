import { canonicalExecutionEngine } from '../../api/canonical-execution-engine.ts';
import type { ExecutionEngineStatus } from '../../api/execution-engine.ts';
import type { Next, ObjectKey } from '../ports.ts';
import type { AddressPorts } from './ports.ts';
import { reconcileAddress, type AddressKind } from './reconcile-address.ts';

const component = 'executionengine-controller';

const engine: AddressKind = {
  resolving: 'Resolving execution engine address',
  resolved: 'ExecutionEngine address resolved successfully',
  read: (object) => canonicalExecutionEngine(object.spec, object),
  announceResolved: (address) => ({
    component,
    reason: 'AddressResolved',
    message: `Address resolved: ${address}`,
  }),
  announceFailed: (message) => ({ component, type: 'Warning', reason: 'AddressResolutionFailed', message }),
};

/** Keeps an ExecutionEngine's status at its address (contract 3.6). */
export const reconcileExecutionEngine = (
  key: ObjectKey,
  ports: AddressPorts<ExecutionEngineStatus>,
): Promise<Next> => reconcileAddress(key, engine, ports);
