const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text, or its beginning and a visible marker; at most `bytesMax` bytes of UTF-8. */
export function clip(text: string, bytesMax: number, marker = '…'): string {
  // A UTF-16 unit is at most three bytes: most texts need no counting.
  if (text.length * 3 <= bytesMax) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= bytesMax) return text;

  let end = Math.max(0, bytesMax - encoder.encode(marker).length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return decoder.decode(bytes.subarray(0, end)) + marker;
}
