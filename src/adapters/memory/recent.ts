import type { Message } from '../../api/transcript.ts';
import { wireMessage } from '../wire-message.ts';

/** The most that is taken over from a conversation, in bytes of its messages as JSON. */
export const historyBytesMax = 768 * 1024;

/**
 * The newest messages that fit. Where some are left out, what is kept begins with a user's message: the answers of tools
 * stay with the calls they answer. Nothing where even the newest exchange is too large.
 */
export function recent(messages: readonly Message[], bytesMax = historyBytesMax): readonly Message[] {
  let first = messages.length;
  let bytes = 0;
  while (first > 0) {
    const message = messages[first - 1] as Message;
    bytes += Buffer.byteLength(JSON.stringify(wireMessage(message)));
    if (bytes > bytesMax) break;
    first -= 1;
  }
  // What was read may itself be the end of something longer, and begin with answers to calls that are missing.
  const begins = (role: Message['role'], index: number): boolean =>
    first === 0 ? role !== 'tool' : index >= first && role === 'user';
  const start = messages.findIndex(({ role }, index) => begins(role, index));
  return start < 0 ? [] : messages.slice(start);
}
