import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import {
  Server,
  type CallToolResult,
  type Implementation,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';

export interface McpTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** An error that is thrown becomes an error of JSON-RPC. */
  run(args: Readonly<Record<string, unknown>>): CallToolResult | Promise<CallToolResult>;
}

export interface McpServerOptions {
  readonly tools: readonly McpTool[];
  readonly transport?: 'http' | 'sse';
  /** Tools on one page of the list; all of them if absent. */
  readonly pageSize?: number;
  /** How long a page takes; no time if absent. */
  readonly pageMs?: number;
  /** A status to refuse a request with, before anything is done about it. */
  refuse?(request: IncomingMessage): number | undefined;
}

export interface RunningMcpServer {
  readonly url: string;
  /** Every call of a tool, in order. */
  readonly calls: { readonly name: string; readonly args: unknown; readonly meta: unknown }[];
  /** The headers and method of every HTTP request. */
  readonly requests: { readonly method: string; readonly headers: IncomingMessage['headers'] }[];
  /** Who has said at the handshake that it was done, in order. */
  readonly clients: (Implementation | undefined)[];
  /** How many sessions were opened so far. */
  readonly sessions: () => number;
  /** As after a restart: no session is known any more. */
  forgetSessions(): void;
  /** Breaks every connection where it stands. */
  cut(): void;
  stop(): Promise<void>;
}

/** A real MCP server on loopback, by the protocol's own library; the older transport is written by hand. */
export async function startMcpServer(options: McpServerOptions): Promise<RunningMcpServer> {
  const { transport = 'http' } = options;
  const calls: RunningMcpServer['calls'] = [];
  const requests: RunningMcpServer['requests'] = [];
  const clients: RunningMcpServer['clients'] = [];
  const open = new Map<string, Session>();
  let sessions = 0;

  async function session(name: string, wire: Session['wire']): Promise<Session> {
    sessions += 1;
    const protocol = serverOf(options, calls);
    protocol.oninitialized = () => void clients.push(protocol.getClientVersion());
    await protocol.connect(wire);
    const opened = { wire };
    open.set(name, opened);
    return opened;
  }

  async function streamable(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const wished = request.headers['mcp-session-id'];
    const known = typeof wished === 'string' ? open.get(wished) : undefined;
    if (wished !== undefined && !known) return void response.writeHead(404).end();

    const name = randomUUID();
    const fresh = () => new NodeStreamableHTTPServerTransport({ sessionIdGenerator: () => name });
    const { wire } = known ?? (await session(name, fresh()));
    await (wire as NodeStreamableHTTPServerTransport).handleRequest(request, response);
  }

  async function older(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      const name = randomUUID();
      await session(name, new SseWire(response));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: /messages?session=${name}\n\n`);
      return;
    }
    const name = new URL(request.url ?? '', 'http://host').searchParams.get('session') ?? '';
    const message = JSON.parse(await text(request)) as JSONRPCMessage;
    response.writeHead(open.has(name) ? 202 : 404).end();
    open.get(name)?.wire.onmessage?.(message);
  }

  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', headers: request.headers });
    const status = options.refuse?.(request);
    if (status !== undefined) return void response.writeHead(status).end('no');
    void (transport === 'sse' ? older : streamable)(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    calls,
    requests,
    clients,
    sessions: () => sessions,
    forgetSessions: () => open.clear(),
    cut: () => server.closeAllConnections(),
    async stop() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

interface Session {
  readonly wire: Transport;
}

function serverOf(
  { tools, pageSize = tools.length, pageMs = 0 }: McpServerOptions,
  calls: RunningMcpServer['calls'],
): Server {
  const server = new Server({ name: 'fake', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async ({ params }) => {
    await sleep(pageMs);
    const from = Number(params?.cursor ?? 0);
    const page = tools
      .slice(from, from + pageSize)
      .map(({ name, description, annotations, inputSchema = {} }) => ({
        name,
        description,
        annotations,
        inputSchema: { type: 'object' as const, ...inputSchema },
      }));
    return { tools: page, ...(from + pageSize < tools.length && { nextCursor: String(from + pageSize) }) };
  });
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { name: wished, arguments: args, _meta: meta } = params;
    calls.push({ name: wished, args, meta });
    const tool = tools.find(({ name }) => name === wished);
    if (!tool) throw new Error(`no tool ${wished}`);
    return tool.run(args ?? {});
  });
  return server;
}

/** One stream of events to the client; what it posts comes in from outside. */
class SseWire implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  async start(): Promise<void> {
    await Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    await Promise.resolve();
  }

  async close(): Promise<void> {
    this.#response.end();
    this.onclose?.();
    await Promise.resolve();
  }
}
