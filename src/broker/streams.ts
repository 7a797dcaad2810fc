import { Refusal } from './refusal.ts';
import { StreamLog } from './stream-log.ts';

export interface StreamBounds {
  readonly streamsMax: number;
  /** Of all streams together. */
  readonly bytesMax: number;
  /** Of one stream; beyond it, its oldest chunks go. */
  readonly streamBytesMax: number;
  /** Of all streams together, and Queries waited for. */
  readonly readersMax: number;
  /** How long a finished stream can still be read. */
  readonly keepFinishedMs: number;
  /** How long an unfinished one is kept that nobody writes to. */
  readonly keepIdleMs: number;
}

export const streamBounds: StreamBounds = {
  streamsMax: 2_000,
  bytesMax: 256 * 1024 * 1024,
  streamBytesMax: 8 * 1024 * 1024,
  readersMax: 1_000,
  keepFinishedMs: 10 * 60_000,
  keepIdleMs: 60 * 60_000,
};

/** The streams there are, by Query. They live in this process only and end with it. */
export class Streams {
  readonly #bounds: StreamBounds;
  /** In the order in which they were begun. */
  readonly #streams = new Map<string, StreamLog>();
  readonly #awaited = new Map<string, Set<(stream: StreamLog) => void>>();
  #bytes = 0;
  #readers = 0;

  constructor(bounds: Partial<StreamBounds> = {}) {
    this.#bounds = { ...streamBounds, ...bounds };
  }

  get count(): number {
    return this.#streams.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get readers(): number {
    return this.#readers;
  }

  find(query: string): StreamLog | undefined {
    return this.#streams.get(query);
  }

  /** Adds a line to the Query's stream. A finished one is over: the line then begins a new stream. */
  write(query: string, line: string): void {
    const { bytesMax } = this.#bounds;
    this.#makeRoom(() => this.#bytes >= bytesMax, `All streams together hold ${bytesMax} bytes or more`);
    this.#unfinished(query).append(line);
  }

  /** Ends the Query's stream; also one that nobody wrote to, so that its readers need not wait. */
  complete(query: string): void {
    if (!this.#streams.has(query)) this.#unfinished(query);
    this.#streams.get(query)?.complete();
  }

  /** The Query's stream, as soon as there is one; undefined after `timeoutMs` or with the end of `signal`. */
  appears(query: string, timeoutMs: number, signal: AbortSignal): Promise<StreamLog | undefined> {
    const found = this.#streams.get(query);
    if (found || timeoutMs <= 0 || signal.aborted) return Promise.resolve(found);

    return new Promise((resolve) => {
      const waiting = this.#awaited.get(query) ?? new Set();
      this.#awaited.set(query, waiting);
      const finish = (stream?: StreamLog): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        waiting.delete(finish);
        if (waiting.size === 0) this.#awaited.delete(query);
        resolve(stream);
      };
      const giveUp = (): void => finish();
      const timer = setTimeout(giveUp, timeoutMs);
      waiting.add(finish);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Counts a reader until the returned function is called. */
  admitReader(): () => void {
    if (this.#readers >= this.#bounds.readersMax)
      throw new Refusal(503, `All ${this.#bounds.readersMax} places for readers are taken`);
    this.#readers += 1;
    let isIn = true;
    return () => {
      if (isIn) this.#readers -= 1;
      isIn = false;
    };
  }

  /** Lets go of the streams whose time is over. */
  sweep(nowMs = performance.now()): void {
    const { keepFinishedMs, keepIdleMs } = this.#bounds;
    for (const [query, stream] of this.#streams) {
      const keepMs = stream.end ? keepFinishedMs : keepIdleMs;
      if (nowMs - stream.changedAtMs >= keepMs) this.#drop(query, stream);
    }
  }

  #unfinished(query: string): StreamLog {
    const found = this.#streams.get(query);
    if (found && !found.end) return found;

    if (found) this.#drop(query, found);
    const { streamsMax, streamBytesMax } = this.#bounds;
    this.#makeRoom(() => this.#streams.size >= streamsMax, `All ${streamsMax} places for streams are taken`);
    const stream = new StreamLog((bytes) => (this.#bytes += bytes), streamBytesMax);
    this.#streams.set(query, stream);
    for (const finish of this.#awaited.get(query) ?? []) finish(stream);
    return stream;
  }

  /** Finished streams make room for others, the oldest first. */
  #makeRoom(isFull: () => boolean, full: string): void {
    for (const [query, stream] of this.#streams) {
      if (!isFull()) return;
      if (stream.end) this.#drop(query, stream);
    }
    if (isFull()) throw new Refusal(503, full);
  }

  #drop(query: string, stream: StreamLog): void {
    this.#streams.delete(query);
    stream.drop();
  }
}
