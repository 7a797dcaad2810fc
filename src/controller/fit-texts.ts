/** Shares smaller than this have no room for words about what is missing. */
const shareForWords = 200;

/**
 * The same texts, together at most `bytesMax` bytes as JSON strings: short ones whole, the long ones cut to equal
 * shares of at least five bytes, each with a visible marker. Never cuts a character in half.
 */
export function fitTexts(texts: readonly string[], bytesMax: number): string[] {
  const sizes = texts.map(jsonBytes);
  const share = fairShare(sizes, bytesMax);
  return texts.map((text, i) => ((sizes[i] ?? 0) <= share ? text : cut(text, share)));
}

/** The largest size each may have so that the sum of all `min(size, share)` stays within the budget. */
function fairShare(sizes: readonly number[], budget: number): number {
  let left = budget;
  const ascending = [...sizes].toSorted((a, b) => a - b);
  for (const [i, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - i));
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
}

function cut(text: string, bytesMax: number): string {
  const marker =
    bytesMax < shareForWords
      ? '…'
      : `… [cut; ${text.length} characters in all, whole in the workflow's result]`;
  const room = bytesMax - jsonBytes(marker);

  // The longest beginning that fits, found by halving: the JSON form of a character is 1 to 6 bytes long.
  let fits = 0;
  let tooLong = Math.max(0, Math.min(text.length, room) + 1);
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (jsonBytes(text.slice(0, middle)) <= room) fits = middle;
    else tooLong = middle;
  }
  return text.slice(0, splitsPair(text, fits) ? fits - 1 : fits) + marker;
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

const splitsPair = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xd800 && unit <= 0xdbff;
};
