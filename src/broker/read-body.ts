import { Refusal } from './refusal.ts';

export const bodyBytesMax = 32 * 1024 * 1024;
/** All bodies that are being read or worked on at the same time. */
const bodiesBytesMax = 256 * 1024 * 1024;
const bodyTimeoutMs = 30_000;

/** Reads a request's body as JSON and hands it to `use`; the memory it takes is counted until that has ended. */
export type WithJson = <R>(request: Request, use: (body: unknown) => Promise<R>) => Promise<R>;

/**
 * Bodies of at most `bodyBytesMax` each (413) and `bodiesBytesMax` together (503), within `bodyTimeoutMs` (408). What is
 * not JSON is refused with 400 `Invalid JSON`.
 */
export function createBodyReader(): WithJson {
  let heldBytes = 0;

  return async (request, use) => {
    let ownBytes = 0;
    const hold = (bytes: number): void => {
      ownBytes += bytes;
      heldBytes += bytes;
      if (ownBytes > bodyBytesMax)
        throw new Refusal(413, `Request body is larger than ${bodyBytesMax} bytes`);
      if (heldBytes > bodiesBytesMax) throw new Refusal(503, 'Too many requests at once');
    };
    try {
      return await use(parsed(await readText(request, hold)));
    } finally {
      heldBytes -= ownBytes;
    }
  };
}

async function readText(request: Request, hold: (bytes: number) => void): Promise<string> {
  if (!request.body) return '';
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void reader.cancel().catch(() => undefined);
  }, bodyTimeoutMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate) throw new Refusal(408, `Request body did not arrive within ${bodyTimeoutMs / 1_000} s`);
      if (done) return Buffer.concat(chunks).toString();
      hold(value.length);
      chunks.push(value);
    }
  } finally {
    clearTimeout(timer);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'Invalid JSON');
  }
}
