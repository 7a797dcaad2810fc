import { randomUUID } from 'node:crypto';

/** More than the least is dropped at once, so that a full stream is not rearranged for each of its chunks. */
const keptWhenFull = 7 / 8;

export interface Chunk {
  /** Counts from 1 within its stream, without gaps. */
  readonly number: number;
  /** One line of JSON. */
  readonly text: string;
  readonly bytes: number;
}

/**
 * One answer while it is being written. Readers have no buffer of their own, only a place in this one: what they cost
 * does not grow with how slow they are.
 */
export class StreamLog {
  /** Tells this stream from an earlier or later one of the same Query, in the ids of its events. */
  readonly id = randomUUID().slice(0, 8);
  readonly #bytesMax: number;
  readonly #grown: (bytes: number) => void;
  readonly #waiting = new Set<() => void>();
  #chunks: Chunk[] = [];
  #bytes = 0;
  #written = 0;
  #end: 'complete' | 'dropped' | undefined;
  changedAtMs = performance.now();

  /**
   * Beyond `bytesMax` the oldest chunks go. `grown` is told by how many bytes this stream holds more, or, where negative,
   * fewer.
   */
  constructor(grown: (bytes: number) => void, bytesMax: number) {
    this.#grown = grown;
    this.#bytesMax = bytesMax;
  }

  /** `complete`: all was written. `dropped`: the broker could not keep it. */
  get end(): 'complete' | 'dropped' | undefined {
    return this.#end;
  }

  /** The number of the newest chunk; 0 where there is none. */
  get newest(): number {
    return this.#written;
  }

  /** The number of the oldest chunk that is still kept, or would be the next. */
  get oldest(): number {
    return this.#written - this.#chunks.length + 1;
  }

  append(text: string): void {
    if (this.#end) return;
    const bytes = Buffer.byteLength(text);
    this.#written += 1;
    this.#chunks.push({ number: this.#written, text, bytes });
    this.#count(bytes);
    if (this.#bytes > this.#bytesMax) this.#forget(this.#bytesMax * keptWhenFull);
    this.#changed();
  }

  /** No chunk comes after this. */
  complete(): void {
    this.#end ??= 'complete';
    this.#changed();
  }

  /** Gives its memory back; readers that have not read all of it are told so. */
  drop(): void {
    this.#end ??= 'dropped';
    this.#forget(0);
    this.#changed();
  }

  /** Chunks from `number` on, at least one if there is one, else about as many as `bytes` hold. */
  from(number: number, bytes: number): readonly Chunk[] {
    const first = number - this.oldest;
    let last = first;
    for (let left = bytes; last < this.#chunks.length && left > 0; last += 1)
      left -= this.#chunks[last]?.bytes ?? 0;
    return this.#chunks.slice(first, last);
  }

  /** Resolves with the next change, with the end of `signal`, or after `timeoutMs`: `false` only then. */
  change(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (happened: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', happens);
        this.#waiting.delete(happens);
        resolve(happened);
      };
      const happens = (): void => finish(true);
      const timer = setTimeout(() => finish(false), timeoutMs);
      this.#waiting.add(happens);
      signal.addEventListener('abort', happens, { once: true });
      if (signal.aborted) happens();
    });
  }

  #forget(bytesLeft: number): void {
    let count = 0;
    let bytes = 0;
    while (count < this.#chunks.length && this.#bytes - bytes > bytesLeft) {
      bytes += this.#chunks[count]?.bytes ?? 0;
      count += 1;
    }
    this.#chunks.splice(0, count);
    this.#count(-bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#grown(bytes);
  }

  #changed(): void {
    this.changedAtMs = performance.now();
    for (const happens of this.#waiting) happens();
  }
}
