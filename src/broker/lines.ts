import { Refusal } from './refusal.ts';

/** The longest line of a stream that is taken, in characters. */
export const lineCharactersMax = 1024 * 1024;
/** A writer that says nothing for longer is gone. */
const silenceMaxMs = 10 * 60_000;

/** The lines of a body as they arrive, without those that are empty; the last one needs no line end. */
export async function* eachLine(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  if (!body) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let isSilent = false;
  const timer = setTimeout(() => {
    isSilent = true;
    void reader.cancel().catch(() => undefined);
  }, silenceMaxMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isSilent) throw new Refusal(408, `Nothing was sent for ${silenceMaxMs / 60_000} minutes`);
      timer.refresh();
      const lines = (rest + decoder.decode(value, { stream: !done })).split(/\r?\n/);
      rest = done ? '' : (lines.pop() ?? '');
      for (const line of lines) {
        if (line.length > lineCharactersMax) throw tooLong();
        if (line.trim() !== '') yield line.trim();
      }
      if (rest.length > lineCharactersMax) throw tooLong();
      if (done) return;
    }
  } finally {
    clearTimeout(timer);
    reader.releaseLock();
  }
}

const tooLong = () => new Refusal(413, `A line may have at most ${lineCharactersMax} characters`);
