/** The most that is kept of an answer as text, in bytes of UTF-8, the marker included. */
export const contentBytesMax = 1024 * 1024;

/** How much beyond that is read, only to tell how much was left out and to keep the connection. */
const drainedBytesMax = 1024 * 1024;

/**
 * A body as text. What does not fit is replaced by `…[truncated: N bytes]`, where N counts what is missing, and no
 * character is split. Invalid UTF-8 becomes U+FFFD.
 */
export async function readCapped(body: AsyncIterable<Uint8Array>): Promise<string> {
  const kept: Uint8Array[] = [];
  let bytes = 0;
  let isEndless = false;
  for await (const chunk of body) {
    if (bytes < contentBytesMax + 1) kept.push(chunk);
    bytes += chunk.length;
    if (bytes > contentBytesMax + drainedBytesMax) {
      isEndless = true;
      break;
    }
  }
  const text = Buffer.concat(kept);
  if (bytes <= contentBytesMax) return text.toString();

  const end = endOfCharacter(text, contentBytesMax - 64);
  return `${text.subarray(0, end).toString()}…[truncated: ${isEndless ? 'more than ' : ''}${bytes - end} bytes]`;
}

/** The end of the last whole character within the first `max` bytes. */
function endOfCharacter(text: Buffer, max: number): number {
  let end = max;
  while (end > max - 4 && ((text[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}
