import type { Message } from '../api/transcript.ts';
import { CallFailure } from './failures.ts';

/** An activity's result of 5 MB hangs until its timeout; this leaves room for what travels beside the message. */
const messageBytesMax = 1024 * 1024 - 4096;

/** A message that has to be cut shorter than this would be nothing but the mark of that. */
const shareBytesMin = 256;

/**
 * The message as it can travel: at most 1 MiB of JSON. A longer answer is cut and says so; a message that is too
 * large for other reasons (the arguments of its tool calls) cannot be used at all.
 */
export function cutToFit<M extends Message>(message: M, bytesMax = messageBytesMax): M {
  const bytes = bytesOf(message);
  if (bytes <= bytesMax) return message;

  const marker = `\n… [cut: the answer was ${(bytes / 1024 / 1024).toFixed(1)} MiB, ${kept(bytesMax)} is kept]`;
  const room = bytesMax - bytesOf({ ...message, content: marker });
  if (room < 0) {
    throw new CallFailure(
      'PayloadTooLarge',
      `the model's tool calls take ${bytes} bytes, more than the ${bytesMax} that can be kept; ask for less at a time`,
    );
  }
  return { ...message, content: headWithin(message.content, room) + marker };
}

/**
 * The messages as they can travel together: at most 1 MiB of JSON. Where they are too large, the longest are cut, all to
 * the same length; too many of them cannot be used at all.
 */
export function cutAllToFit(messages: readonly Message[]): readonly Message[] {
  const bytes = bytesOf(messages);
  if (bytes <= messageBytesMax) return messages;

  const share = fairShare(messages.map(bytesOf), messageBytesMax - messages.length - 1);
  if (share < shareBytesMin) {
    throw new CallFailure(
      'PayloadTooLarge',
      `the ${messages.length} messages take ${bytes} bytes, more than the ${messageBytesMax} that can be kept; ask for less at a time`,
    );
  }
  return messages.map((message) => cutToFit(message, share));
}

/** The most that each may take so that all fit into `room`: what the short ones leave is the long ones'. */
function fairShare(sizes: readonly number[], room: number): number {
  let left = room;
  for (const [index, size] of sizes.toSorted((one, other) => one - other).entries()) {
    const share = Math.floor(left / (sizes.length - index));
    if (size > share) return share;
    left -= size;
  }
  return left;
}

/** The whole room counts as the round figure it is made from. */
const kept = (bytes: number): string =>
  bytes === messageBytesMax ? '1 MiB' : `${Math.ceil(bytes / 1024)} KiB`;

/** The longest beginning of `text` that takes at most `room` bytes as JSON and splits no character. */
function headWithin(text: string, room: number): string {
  let fits = 0;
  // No character takes less than a byte.
  let tooLong = Math.min(text.length, room) + 1;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (bytesOf(text.slice(0, middle)) - 2 <= room) fits = middle;
    else tooLong = middle;
  }
  const splitsPair = /[\uD800-\uDBFF]/.test(text.charAt(fits - 1));
  return text.slice(0, splitsPair ? fits - 1 : fits);
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
