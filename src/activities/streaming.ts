import type { ModelCall, StreamEnd } from '../api/run.ts';
import { asStep, type Step } from './context.ts';
import type { Effects } from './effects.ts';
import type { StreamAddress } from './ports.ts';

/** Whose words a stream carries. */
type Voice = Pick<StreamAddress['about'], 'agent' | 'model'>;

/**
 * Lets people read an answer while it is written, where the Query asks for that: `complete` is given where to put the
 * chunks. Readers of an earlier attempt at this call are told to drop what it had written. A stream that cannot be
 * written never fails the call.
 */
export async function streaming<R>(
  effects: Effects,
  step: Step,
  { stream }: ModelCall,
  voice: Voice,
  complete: (onChunk?: (chunk: object) => void) => Promise<R>,
): Promise<R> {
  if (!stream) return complete();

  const { definition, target, team } = stream;
  const about = { target, ...(team !== undefined && { team }), ...voice };
  const address = await addressOf(effects, step, definition, about);
  const answer = effects.ports.streams.open({ ...address, call: step.keys.model }, step.signal);
  if (step.attempt > 1) answer.restart();
  try {
    return await complete((chunk) => answer.write(chunk));
  } finally {
    await answer.end();
  }
}

/** Tells the readers of a Query's answers that nothing more will come. */
export const endStream =
  (effects: Effects) =>
  ({ definition, target }: StreamEnd): Promise<void> =>
    asStep(async (step) => {
      await effects.ports.streams.complete(
        await addressOf(effects, step, definition, { target }),
        step.signal,
      );
    });

async function addressOf(
  { definitions }: Effects,
  step: Step,
  definition: string,
  about: Omit<StreamAddress['about'], 'query' | 'session'>,
): Promise<StreamAddress> {
  const { address, query, session } = await definitions.get(step, definition, 'stream');
  return { address, about: { query, session, ...about } };
}
