import type { BuiltInPort } from '../../activities/ports.ts';
import type { BuiltInToolDefinition } from '../../api/snapshot.ts';
import { goPrint } from '../templates/go-print.ts';

/** The tools every agent can name without a Tool object (contract 4.9). */
export const builtInTools: Readonly<Record<BuiltInToolDefinition['builtIn'], BuiltInToolDefinition>> = {
  noop: {
    type: 'built-in',
    builtIn: 'noop',
    name: 'noop',
    description: 'Does nothing and reports success.',
    parameters: {
      type: 'object',
      properties: { message: { type: 'string', description: 'Any text; it has no effect.' } },
    },
  },
  terminate: {
    type: 'built-in',
    builtIn: 'terminate',
    name: 'terminate',
    description:
      'Gives the final response and ends the conversation. Use it when nothing is left to be said.',
    parameters: {
      type: 'object',
      properties: { response: { type: 'string', description: 'The final response.' } },
      required: ['response'],
    },
  },
};

/** Throws `no response` where `terminate` is given none (contract 4.9). `noop` prints its arguments as Go would. */
export const runBuiltIn: BuiltInPort['run'] = (builtIn, args) => {
  if (builtIn === 'noop') return { content: goPrint(args) };

  const { response } = args;
  if (typeof response !== 'string') throw new Error('no response');
  return { content: response, ends: true };
};
