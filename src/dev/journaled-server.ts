import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const requestBytesMax = 32 * 1024 * 1024;
const requestsKeptMax = 10_000;
const keysKeptMax = 200_000;

export interface JournaledRequest {
  /** Counts from 1. */
  readonly n: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Its `Idempotency-Key`; empty where there is none. */
  readonly key: string;
  /** Aborts when the caller hangs up before it has the whole answer. */
  readonly signal: AbortSignal;
}

/** What to send, whole or piece by piece; `cut` breaks the connection in the middle of an answer, `hang` never answers. */
export type JournaledReply =
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | AsyncIterable<string>;
    }
  | 'cut'
  | 'hang';

export interface CallCount {
  readonly started: number;
  /** Answers below status 400 that were written to the last byte. */
  readonly finished: number;
  /** Calls that began after the same key had been answered: what a durable run never makes. */
  readonly repeated: number;
}

export interface JournaledServer {
  readonly url: string;
  readonly port: number;
  /** The newest requests, oldest first. */
  readonly requests: readonly JournaledRequest[];
  /** By `Idempotency-Key`. */
  calls(): ReadonlyMap<string, CallCount>;
  /** All calls together, also those without a key. */
  total(): CallCount;
  /** Cuts what is open and stops listening. */
  close(): Promise<void>;
}

/** An HTTP server on loopback that writes down every call and whether its answer went out whole. */
export async function startJournaledServer(
  answer: (request: JournaledRequest) => JournaledReply | Promise<JournaledReply>,
  { port = 0 }: { readonly port?: number } = {},
): Promise<JournaledServer> {
  const requests: JournaledRequest[] = [];
  const calls = new Map<string, CallCount>();
  let total: CallCount = { started: 0, finished: 0, repeated: 0 };

  function count(key: string, change: (count: CallCount) => CallCount): void {
    total = change(total);
    if (key === '') return;
    const before = calls.get(key) ?? { started: 0, finished: 0, repeated: 0 };
    calls.set(key, change(before));
    if (calls.size > keysKeptMax) calls.delete(calls.keys().next().value as string);
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const hungUp = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) hungUp.abort();
    });
    const received = await read(incoming);
    const request = { n: total.started + 1, ...received, signal: hungUp.signal };
    requests.push(request);
    if (requests.length > requestsKeptMax) requests.shift();

    const repeated = (calls.get(request.key)?.finished ?? 0) > 0 ? 1 : 0;
    count(request.key, (counted) => ({
      ...counted,
      started: counted.started + 1,
      repeated: counted.repeated + repeated,
    }));
    response.once('finish', () => {
      if (response.statusCode >= 400) return;
      count(request.key, (counted) => ({ ...counted, finished: counted.finished + 1 }));
    });
    send(response, await answer(request));
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      send(response, { status: 500, body: JSON.stringify({ error: { message: reason } }) });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const { port: bound } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    requests,
    calls: () => calls,
    total: () => total,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function read(incoming: IncomingMessage): Promise<Omit<JournaledRequest, 'n' | 'signal'>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > requestBytesMax) throw new RangeError(`the request is larger than ${requestBytesMax} bytes`);
    chunks.push(chunk);
  }
  const { method = '', url: path = '', headers } = incoming;
  return {
    method,
    path,
    headers,
    body: Buffer.concat(chunks).toString(),
    key: String(headers['idempotency-key'] ?? ''),
  };
}

function send(response: ServerResponse, reply: JournaledReply): void {
  if (reply === 'hang') return;
  if (reply === 'cut') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"id": "half an ans', () => response.destroy());
    return;
  }
  response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
  const { body = '' } = reply;
  if (typeof body === 'string') response.end(body);
  // A caller that hangs up ends the pieces.
  else pipeline(Readable.from(body), response).catch(() => undefined);
}
