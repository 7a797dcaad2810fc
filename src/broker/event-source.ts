import type { Chunk, StreamLog } from './stream-log.ts';

/** Proxies close connections on which nothing is said. */
const keepAliveMs = 15_000;
/** How much goes to a reader at a time. */
const batchBytes = 64 * 1024;

/** Why a reader is not served to the end of its stream. */
export type CutOff = 'reader-too-slow' | 'stream-dropped';

export interface Reading {
  /** The number of the first chunk to send. */
  readonly from: number;
  /** Aborts when the reader is no longer there. */
  readonly signal: AbortSignal;
  readonly onCutOff: (why: CutOff) => void;
  readonly onEnd: () => void;
}

/**
 * A stream as server-sent events: a chunk is one event with an `id`, after the last one comes `data: [DONE]`.
 *
 * Where the first chunks asked for are no longer kept, an event `truncated` says how many are missing. A reader that falls
 * behind what is kept is cut off with an event `cut-off`, and may come back with its `Last-Event-ID`.
 */
export function eventSource(stream: StreamLog, reading: Reading): ReadableStream<Uint8Array> {
  const { signal, onCutOff, onEnd } = reading;
  const left = new AbortController();
  const gone = AbortSignal.any([signal, left.signal]);
  const missing = Math.max(stream.oldest - reading.from, 0);
  let next = reading.from + missing;
  let greeting = missing > 0 ? event('truncated', { missing }) : '';

  /** The next piece of text; undefined after the last one. */
  async function more(): Promise<{ readonly text: string; readonly isLast: boolean }> {
    for (;;) {
      if (next < stream.oldest) {
        const why = stream.end ? 'stream-dropped' : 'reader-too-slow';
        onCutOff(why);
        return { text: event('cut-off', { error: why, missing: stream.oldest - next }), isLast: true };
      }
      const chunks = stream.from(next, batchBytes);
      next += chunks.length;
      if (chunks.length > 0)
        return { text: chunks.map((chunk) => shown(stream, chunk)).join(''), isLast: false };
      if (stream.end === 'complete') return { text: 'data: [DONE]\n\n', isLast: true };
      if (stream.end) {
        onCutOff('stream-dropped');
        return { text: event('cut-off', { error: 'stream-dropped', missing: 0 }), isLast: true };
      }
      if (gone.aborted) return { text: '', isLast: true };
      if (!(await stream.change(keepAliveMs, gone))) return { text: ': still here\n\n', isLast: false };
    }
  }

  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { text, isLast } = await more();
        if (left.signal.aborted) return;
        if (greeting + text !== '') controller.enqueue(encoder.encode(greeting + text));
        greeting = '';
        if (!isLast) return;
        controller.close();
        onEnd();
      },
      cancel() {
        left.abort();
        onEnd();
      },
    },
    // Nothing is taken from the stream before the reader has room for it.
    { highWaterMark: 0 },
  );
}

/** The number of the first chunk that a reader with this `Last-Event-ID` has not seen; undefined where it is of another stream. */
export function afterEvent(stream: StreamLog, lastEventId: string): number | undefined {
  const [, id, number] = /^([0-9a-f]+)-(\d{1,15})$/.exec(lastEventId) ?? [];
  return id === stream.id ? Math.min(Number(number), stream.newest) + 1 : undefined;
}

const shown = (stream: StreamLog, { number, text }: Chunk): string =>
  `id: ${stream.id}-${number}\ndata: ${text}\n\n`;

const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
