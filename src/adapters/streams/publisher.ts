/** Why chunks were not sent: the buffer was full, the broker failed, or the call ended before it took them. */
export type Dropped = 'buffer-full' | 'unreachable' | 'ended';

/** Sends lines in one request; rejects where that failed. */
export type Send = (lines: readonly string[]) => Promise<void>;

export interface Publisher {
  /** Takes a line and returns at once; it is sent in the background, after those before it. */
  add(line: string): void;
  /** Resolves when every line was sent or dropped, at the latest after `endWithinMs`. */
  end(): Promise<void>;
}

/** Of one stream; an answer of a model is rarely longer as a whole. */
export const bufferedCharactersMax = 1024 * 1024;
const requestCharactersMax = 256 * 1024;
/** A broker that fails so often in a row is left alone by this stream. */
const failuresMax = 3;
export const endWithinMs = 10_000;

/**
 * One request at a time, each with all that came meanwhile: in order, and without waiting where nothing is under way. A
 * request that failed is not repeated, because the broker may have taken its lines; readers miss what it did not take.
 */
export function createPublisher(
  send: Send,
  onDropped: (dropped: Dropped, chunks: number) => void,
): Publisher {
  let buffer: string[] = [];
  let buffered = 0;
  let failures = 0;
  let isOver = false;
  let sending: Promise<void> | undefined;

  function add(line: string): void {
    if (isOver || failures >= failuresMax) return onDropped(isOver ? 'ended' : 'unreachable', 1);
    if (buffered + line.length > bufferedCharactersMax) return onDropped('buffer-full', 1);
    buffer.push(line);
    buffered += line.length;
    sending ??= sendAll();
  }

  async function sendAll(): Promise<void> {
    while (buffer.length > 0) {
      const lines = next();
      try {
        await send(lines);
        failures = 0;
      } catch {
        failures += 1;
        onDropped('unreachable', lines.length);
      }
      if (failures >= failuresMax) giveUp('unreachable');
    }
    // At once, so that no line can be added in between and wait for a sender that has gone.
    sending = undefined;
  }

  function next(): readonly string[] {
    let count = 0;
    let characters = 0;
    while (count < buffer.length && characters < requestCharactersMax) {
      characters += buffer[count]?.length ?? 0;
      count += 1;
    }
    buffered -= characters;
    return buffer.splice(0, count);
  }

  function giveUp(why: Dropped): void {
    if (buffer.length > 0) onDropped(why, buffer.length);
    buffer = [];
    buffered = 0;
  }

  return {
    add,
    async end() {
      const patience = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, endWithinMs);
        void sending?.then(() => clearTimeout(timer));
        if (!sending) clearTimeout(timer);
      });
      await (sending && Promise.race([sending, patience]));
      isOver = true;
      giveUp('ended');
    },
  };
}
