import type { MemoryRead, MemoryWrite, Remembered } from '../api/run.ts';
import type { MemoryDefinition } from '../api/snapshot.ts';
import { answersInto } from './answer-into.ts';
import { asStep, type Step } from './context.ts';
import type { Effects } from './effects.ts';
import { during, isRemoteError, remoteFailure } from './failures.ts';
import type { MemoryAddress } from './ports.ts';
import { ask } from './question.ts';
import { createValues } from './values.ts';

/** Reads what was said in earlier Queries of the session (contract section 5); its newest part where it is long. */
export const readMemory =
  (effects: Effects) =>
  (input: MemoryRead): Promise<Remembered> =>
    answersInto(effects, input.slot, async (step) => {
      const memory = await effects.definitions.get(step, input.definition, 'memory');
      return during('unable to load initial messages: failed to get messages from memory', async () => {
        const address = await addressOf(effects, step, memory);
        return told(() => effects.ports.memories.read(address, step.signal));
      });
    });

/** Adds the question and what was said after it, once however often this is tried. */
export const writeMemory =
  (effects: Effects) =>
  (input: MemoryWrite): Promise<void> =>
    asStep(async (step) => {
      const { definitions, transcripts, ports } = effects;
      const memory = await definitions.get(step, input.definition, 'memory');
      const [question, said] = await Promise.all([
        ask(effects, step, input.question),
        transcripts.read(step, input.said),
      ]);
      await during('failed to save new messages to memory', async () => {
        const address = await addressOf(effects, step, memory);
        const messages = [{ role: 'user', content: question } as const, ...said];
        const options = {
          signal: step.signal,
          idempotencyKey: step.keys.tool,
          isRepeated: step.attempt > 1,
          heldBefore: input.held,
        };
        await told(() => ports.memories.append(address, messages, options));
      });
    });

async function addressOf(
  { ports }: Effects,
  step: Step,
  { address, session, query, access }: MemoryDefinition,
): Promise<MemoryAddress> {
  return { address: await createValues(ports, access, step).text(address), session, query };
}

async function told<R>(call: () => Promise<R>): Promise<R> {
  try {
    return await call();
  } catch (error) {
    throw isRemoteError(error)
      ? remoteFailure(error, { unavailable: 'MemoryUnavailable', rejected: 'MemoryRejected' })
      : error;
  }
}
