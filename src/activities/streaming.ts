import type { ModelCall, StreamEnd } from '../api/run.ts';
import type { Message } from '../api/transcript.ts';
import { asStep, type Step } from './context.ts';
import type { Effects } from './effects.ts';
import type { StreamAddress } from './ports.ts';

/** Whose words a stream carries. */
type Voice = Pick<StreamAddress['about'], 'agent' | 'model'>;

/** What a call comes back with, where it comes back with anything. */
type Reply = { readonly message: Message } | { readonly messages: readonly Message[] } | undefined;

/**
 * Lets people read an answer while it is written, where the Query asks for that: `complete` is given where to put the
 * chunks. What comes whole (from an engine, or a provider that does not stream) is one chunk a message. Readers of an
 * earlier attempt at this call are told to drop what it had written. A stream that cannot be written never fails the
 * call.
 */
export async function streaming<R extends Reply>(
  effects: Effects,
  step: Step,
  { stream }: Pick<ModelCall, 'stream'>,
  voice: Voice,
  complete: (onChunk?: (chunk: object) => void) => Promise<R>,
): Promise<R> {
  if (!stream) return complete();

  const { definition, target, team } = stream;
  const about = { target, ...(team !== undefined && { team }), ...voice };
  const address = await addressOf(effects, step, definition, about);
  const answer = effects.ports.streams.open({ ...address, call: step.keys.model }, step.signal);
  if (step.attempt > 1) answer.restart();
  let isWritten = false;
  try {
    const reply = await complete((chunk) => {
      isWritten = true;
      answer.write(chunk);
    });
    if (!isWritten) for (const message of messagesOf(reply)) answer.write(chunkOf(message, step.keys.model));
    return reply;
  } finally {
    await answer.end();
  }
}

function messagesOf(reply: Reply): readonly Message[] {
  if (!reply) return [];
  const messages = 'message' in reply ? [reply.message] : reply.messages;
  return messages.filter(({ content }) => content !== '');
}

const chunkOf = ({ content }: Message, id: string): object => ({
  id,
  object: 'chat.completion.chunk',
  created: Math.floor(Date.now() / 1_000),
  choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: 'stop' }],
});

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
