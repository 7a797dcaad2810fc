import type { Headers } from '../http/json.ts';

/** As which client memories know ARK (contract section 5.1). */
export const memoryHeaders: Headers = [{ name: 'user-agent', value: 'ark-memory-client/1.0' }];
