import { canonicalMemory } from '../../api/canonical-memory.ts';
import type { MemoryStatus } from '../../api/memory.ts';
import type { Next, ObjectKey } from '../ports.ts';
import type { AddressPorts } from './ports.ts';
import { reconcileAddress, type AddressKind } from './reconcile-address.ts';

const memory: AddressKind = {
  resolving: 'Resolving memory address',
  resolved: 'Memory address resolved and validated',
  empty: 'Invalid address: address cannot be empty',
  read: ({ spec }) => canonicalMemory(spec),
  announceResolved: (address) => ({
    component: 'memory-controller',
    reason: 'AddressResolved',
    message: `Successfully resolved address: ${address}`,
  }),
};

/** Keeps a Memory's status at its address (contract 3.6). */
export const reconcileMemory = (key: ObjectKey, ports: AddressPorts<MemoryStatus>): Promise<Next> =>
  reconcileAddress(key, memory, ports);
