import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type FetchLike,
} from '@modelcontextprotocol/client';
import type { ResolvedMcpServer } from '../../activities/ports.ts';
import { httpUrl, shownUrl } from '../http/http-request.ts';
import { RemoteError } from '../remote-error.ts';
import type { Journey, Roads } from './journey.ts';
import { remoteError } from './mcp-error.ts';

const goodbyeTimeoutMs = 2_000;

export interface Connection {
  readonly client: Client;
  /** Whether the server gave this connection a session, which it may forget. */
  readonly hasSession: boolean;
  /** Whether nothing new may be asked over it. */
  isBroken: boolean;
  /** Never rejects. */
  close(): Promise<void>;
}

/**
 * A connection on which the handshake is done (contract section 4.10), within `server.timeoutMs`. Rejects with a
 * RemoteError that says which part of it failed; nothing was asked of the server by then.
 */
export async function connect(server: ResolvedMcpServer, roads: Roads, version: string): Promise<Connection> {
  const url = urlOf(server);
  const headers = headersOf(server);
  const { timeoutMs } = server;
  const deadline = AbortSignal.timeout(timeoutMs);
  const journey: Journey = { signal: deadline, sent: false };
  const client = new Client({ name: 'arkwright', version });
  const bare = new URL(url.origin + url.pathname + url.search);
  const transport =
    server.transport === 'sse'
      ? new SSEClientTransport(bare, { requestInit: { headers }, fetch: roads.fetch })
      : new StreamableHTTPClientTransport(bare, { requestInit: { headers }, fetch: unasked(roads.fetch) });
  try {
    await roads.travel(journey, () => inTime(client.connect(transport, { timeout: timeoutMs }), deadline));
  } catch (error) {
    await client.close().catch(() => undefined);
    const didStart = server.transport === 'http' || journey.posted;
    const words = didStart
      ? `failed to initialize MCP client for ${shownUrl(url)}: transport error`
      : `failed to start MCP transport for ${shownUrl(url)}`;
    throw remoteError(error, words, { ...journey, sent: false, timeoutMs, timedOut: deadline.aborted });
  }
  return connection(client, transport);
}

function connection(
  client: Client,
  transport: SSEClientTransport | StreamableHTTPClientTransport,
): Connection {
  const isStreamable = transport instanceof StreamableHTTPClientTransport;
  const open: Connection = {
    client,
    hasSession: isStreamable && transport.sessionId !== undefined,
    isBroken: false,
    async close() {
      open.isBroken = true;
      const goodbye = isStreamable ? transport.terminateSession() : Promise.resolve();
      await inTime(goodbye, AbortSignal.timeout(goodbyeTimeoutMs)).catch(() => undefined);
      await client.close().catch(() => undefined);
    },
  };
  const heard: Required<Pick<Client, 'onclose' | 'onerror'>> = {
    onclose() {
      open.isBroken = true;
    },
    onerror({ name }) {
      // Replies come over the one stream of the older transport: without it nobody hears them. That a request whose
      // reply is there already was ended says nothing of the stream.
      if (!isStreamable && name !== 'AbortError') void client.close();
    },
  };
  Object.assign(client, heard);
  return open;
}

/** Answers come with their requests; the stream that a server may send on unasked would be one more connection. */
const unasked =
  (fetch: FetchLike): FetchLike =>
  async (url, init) =>
    init?.method === 'GET' && !new Headers(init.headers).has('last-event-id')
      ? new Response(null, { status: 405 })
      : fetch(url, init);

async function inTime<R>(work: Promise<R>, deadline: AbortSignal): Promise<R> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      deadline.addEventListener('abort', () => reject(deadline.reason as Error), { once: true });
    }),
  ]);
}

function urlOf({ namespace, name, address }: ResolvedMcpServer): URL {
  const url = httpUrl(address);
  if (url) return url;
  throw unusable(
    `MCP server ${namespace}/${name}: its address is no http or https URL; correct spec.address`,
  );
}

/** Anything but a tab and printable Latin-1 (RFC 9110, 5.5). */
const unsendable = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/** Credentials in the address become a header, as in Go; one that the resource sets itself wins. */
function headersOf({ namespace, name: server, address, headers }: ResolvedMcpServer): Record<string, string> {
  const { username, password } = new URL(address);
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const all: Record<string, string> = {
    'user-agent': 'arkwright',
    ...((username || password) && { authorization: `Basic ${credentials.toString('base64')}` }),
  };
  for (const { name, value } of headers) {
    if (unsendable.test(value) || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name))
      throw unusable(
        `MCP server ${namespace}/${server}: header ${JSON.stringify(name)} cannot be sent; correct its value`,
      );
    all[name.toLowerCase()] = value;
  }
  return all;
}

const unusable = (message: string): RemoteError => new RemoteError('template', message, { sent: false });
