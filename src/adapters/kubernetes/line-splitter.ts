/** One event of a watch: an object of at most 3 MiB (the server's own bound) and its envelope. */
const lineBytesMax = 16 * 1024 * 1024;

/** Takes the pieces of a stream as they come and hands over each line once it is whole; empty lines are left out. */
export function lineSplitter(onLine: (line: string) => void): (chunk: Buffer) => void {
  let pending: Buffer[] = [];
  let pendingBytes = 0;

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const tail = chunk.subarray(start, end);
      const line = pending.length === 0 ? tail : Buffer.concat([...pending, tail]);
      pending = [];
      pendingBytes = 0;
      start = end + 1;
      if (line.length > 0) onLine(line.toString('utf8'));
    }
    if (start === chunk.length) return;

    pending.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    if (pendingBytes > lineBytesMax)
      throw new Error(`a line of the stream is longer than ${lineBytesMax} bytes`);
  };
}
