import type { Import, Imports, Memory } from './web-assembly.ts';

const memoryBytesMax = 256 * 1024 * 1024;
const outputBytesMax = 4 * 1024 * 1024;

/**
 * jq's input and output, in place of those of `jq-wasm`, which copy all of a stream for each byte of it, and a bound on
 * its memory. The package shortens the names of imports; their functions still have their own.
 */
export function createJqStreams(input: Buffer) {
  const written: Readonly<Record<number, Buffer[]>> = { 1: [], 2: [] };
  let memory: Memory = { buffer: new ArrayBuffer() };
  let readBytes = 0;
  let writtenBytes = 0;

  function read(part: Buffer): number {
    const copied = input.copy(part, 0, readBytes);
    readBytes += copied;
    return copied;
  }

  function write(file: number, part: Buffer): number {
    writtenBytes += part.length;
    if (writtenBytes > outputBytesMax)
      throw new Error(
        `jq query execution error: the result is larger than ${outputBytesMax / 1024 / 1024} MiB`,
      );
    written[file]?.push(Buffer.from(part));
    return part.length;
  }

  /** Everything jq reads is its input, for it is given no other file. */
  function replaced(own: Import): Import {
    switch (own.name) {
      case '_fd_read':
        return (_file, list, count, sum) => eachPart(memory, { list, count, sum }, read);
      case '_fd_write':
        return (file = 0, list, count, sum) =>
          eachPart(memory, { list, count, sum }, (part) => write(file, part));
      case '_emscripten_resize_heap':
        return (size = 0) => (size > memoryBytesMax ? 0 : own(size));
      default:
        return own;
    }
  }

  return {
    /** The imports with ours among them. */
    instead: (imports: Imports): Imports => mapValues(imports, (functions) => mapValues(functions, replaced)),
    attach(its: Memory): void {
      memory = its;
    },
    output: () => Buffer.concat(written[1] ?? []).toString(),
    complaint: () => Buffer.concat(written[2] ?? []).toString(),
  };
}

interface Parts {
  readonly list: number | undefined;
  readonly count: number | undefined;
  readonly sum: number | undefined;
}

/** Uses each part of memory that a `readv` or `writev` lists, and notes how much was used; 0 is success. */
function eachPart(memory: Memory, { list = 0, count = 0, sum = 0 }: Parts, use: (part: Buffer) => number) {
  const view = new DataView(memory.buffer);
  let used = 0;
  for (let at = list; at < list + 8 * count; at += 8) {
    used += use(Buffer.from(memory.buffer, view.getUint32(at, true), view.getUint32(at + 4, true)));
  }
  view.setUint32(sum, used, true);
  return 0;
}

const mapValues = <T, R>(record: Readonly<Record<string, T>>, change: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
