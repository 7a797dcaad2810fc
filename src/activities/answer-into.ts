import type { Message } from '../api/transcript.ts';
import { asStep, type Step } from './context.ts';
import { cutAllToFit, cutToFit } from './cut-to-fit.ts';
import type { Effects } from './effects.ts';

/**
 * Runs an effect whose message the run will keep in `slot`. The message fits into an activity's result, and this
 * process remembers it for the run's next call; what an earlier attempt left there is forgotten first.
 */
export const answerInto = <Reply extends { readonly message: Message }>(
  { transcripts }: Effects,
  slot: number,
  effect: (step: Step) => Promise<Reply>,
): Promise<Reply> =>
  asStep(async (step) => {
    if (step.attempt > 1) transcripts.forget(step, slot);

    const reply = await effect(step);
    const answer = { ...reply, message: cutToFit(reply.message) };
    transcripts.remember(step, slot, [answer.message]);
    return answer;
  });

/** As `answerInto`, for an effect with several messages, which together fit into an activity's result. */
export const answersInto = <Reply extends { readonly messages: readonly Message[] }>(
  { transcripts }: Effects,
  slot: number,
  effect: (step: Step) => Promise<Reply>,
): Promise<Reply> =>
  asStep(async (step) => {
    if (step.attempt > 1) transcripts.forget(step, slot);

    const reply = await effect(step);
    const messages = cutAllToFit(reply.messages);
    transcripts.remember(step, slot, messages);
    return { ...reply, messages };
  });
