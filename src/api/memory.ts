/** A Memory: a service that keeps conversations (contract 1.8). */
import { z } from 'zod';
import { AddressStatus, ValueSource } from './values.ts';

export const MemorySpec = z.object({ address: ValueSource.describe('Where the service is.') });
export type MemorySpec = z.infer<typeof MemorySpec>;

export const MemoryStatus = AddressStatus;
export type MemoryStatus = z.infer<typeof MemoryStatus>;
