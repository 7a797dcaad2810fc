import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CallOptions, McpPort, ResolvedMcpServer } from '../../activities/ports.ts';
import type { JsonSchema } from '../../api/snapshot.ts';
import { RemoteError } from '../remote-error.ts';
import type { Connection } from './connect.ts';
import { createRoads, type Journey } from './journey.ts';
import { resultText } from './result-text.ts';

const connectionsMax = 256;
const idleTimeoutMs = 60_000;
const pagesMax = 64;
const toolsMax = 1_000;

export interface McpOptions {
  /** As which version of this program servers know us. */
  readonly version?: string;
  /** How long an unused connection is kept; a minute if absent. */
  readonly idleTimeoutMs?: number;
}

export interface McpListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonSchema;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

export interface Mcp extends McpPort {
  /** All tools of the server, up to a thousand, in its order. Rejects with a `RemoteError`, or with `signal`'s reason. */
  list(server: ResolvedMcpServer, signal: AbortSignal): Promise<readonly McpListedTool[]>;
  close(): Promise<void>;
}

interface Pooled {
  readonly connection: Promise<Connection>;
  users: number;
  isRetired: boolean;
}

/**
 * MCP servers over streamable HTTP or the older HTTP with server-sent events (contract section 4.10). Exchanges with
 * one address, transport and set of headers share a connection, which is closed after a failure and when it was idle
 * for a while. Nothing is asked twice, but where the server has done
 * nothing: it has forgotten the session, or hung up before.
 */
export function createMcp({ version = '0', idleTimeoutMs: ttl = idleTimeoutMs }: McpOptions = {}): Mcp {
  const roads = createRoads();
  const pool = new LRUCache<string, Pooled>({
    max: connectionsMax,
    ttl,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (pooled) => retire(pooled),
  });

  function join(server: ResolvedMcpServer): { readonly name: string; readonly pooled: Pooled } {
    const name = nameOf(server);
    const pooled = pool.get(name) ?? {
      // The protocol's library is loaded where somebody has a server: with zod, which it brings, it takes 15 MB.
      connection: import('./connect.ts').then(({ connect }) => connect(server, roads, version)),
      users: 0,
      isRetired: false,
    };
    pool.set(name, pooled, { noDisposeOnSet: true });
    pooled.users += 1;
    return { name, pooled };
  }

  function leave(name: string, pooled: Pooled, { isBroken }: { readonly isBroken: boolean }): void {
    pooled.users -= 1;
    if (isBroken && pool.peek(name) === pooled) pool.delete(name);
    else if (pooled.isRetired) retire(pooled);
  }

  async function once<R>(server: ResolvedMcpServer, wish: Wish<R>, options: Options): Promise<Outcome<R>> {
    const { name, pooled } = join(server);
    let open: Connection | undefined;
    try {
      open = await unlessAborted(pooled.connection, options.signal);
      return open.isBroken ? brokenBefore(options) : await exchange(open, wish, options);
    } finally {
      leave(name, pooled, { isBroken: open?.isBroken ?? !options.signal.aborted });
    }
  }

  async function exchange<R>(open: Connection, wish: Wish<R>, options: Options): Promise<Outcome<R>> {
    const { signal, idempotencyKey, timeoutMs } = options;
    const finished = new AbortController();
    const lost = new Promise<never>((_, reject) => {
      finished.signal.addEventListener('abort', reject);
    });
    lost.catch(() => undefined);
    const journey: Journey = {
      signal: finished.signal,
      sent: false,
      lost: () => finished.abort(),
      ...(idempotencyKey && { idempotencyKey }),
    };
    try {
      const answer = roads.travel(journey, () => wish(open, { signal, timeout: timeoutMs }));
      return { answer: await Promise.race([answer, lost]) };
    } catch (error) {
      signal.throwIfAborted();
      const { remoteError } = await import('./mcp-error.ts');
      const mayAskAgain = open.hasSession && journey.status === 404;
      if (finished.signal.aborted) journey.cause ??= new Error('the answer ended before the reply');
      const failure = remoteError(error, options.words, { ...journey, timeoutMs, timedOut: false });
      // A refusal in the protocol's own words says that the connection is well.
      if (failure.kind === 'refused') throw failure;
      open.isBroken = true;
      return { failure, mayAskAgain };
    } finally {
      finished.abort();
    }
  }

  async function ask<R>(server: ResolvedMcpServer, wish: Wish<R>, options: Options): Promise<R> {
    options.signal.throwIfAborted();
    let outcome = await once(server, wish, options);
    if ('failure' in outcome && outcome.mayAskAgain) outcome = await once(server, wish, options);
    if ('failure' in outcome) throw outcome.failure;
    return outcome.answer;
  }

  return {
    async call(server, tool, args, { signal, idempotencyKey, timeoutMs }) {
      const params = { name: tool, arguments: args, _meta: { 'arkwright/idempotency-key': idempotencyKey } };
      const result = await ask(
        server,
        ({ client }, limits) => client.request({ method: 'tools/call', params }, limits),
        { signal, idempotencyKey, timeoutMs, words: `failed to call MCP tool ${tool}` },
      );
      return { content: await resultText(result), ...(result.isError && { isError: true }) };
    },
    list: (server, signal) =>
      ask(server, allTools, { signal, timeoutMs: server.timeoutMs, words: 'failed to list MCP tools' }),
    async close() {
      const all = [...pool.values()].map(({ connection }) =>
        connection.then(
          (one) => one.close(),
          () => undefined,
        ),
      );
      pool.clear();
      await Promise.all(all);
      await roads.close();
    },
  };
}

type Limits = { readonly signal: AbortSignal; readonly timeout: number };
type Wish<R> = (connection: Connection, limits: Limits) => Promise<R>;
type Options = Pick<CallOptions, 'signal'> &
  Partial<Pick<CallOptions, 'idempotencyKey'>> & { readonly timeoutMs: number; readonly words: string };
type Outcome<R> = { readonly answer: R } | { readonly failure: RemoteError; readonly mayAskAgain: boolean };

/** The server hung up while nobody was looking: nothing was asked of it. */
const brokenBefore = ({ words }: Options): Outcome<never> => ({
  failure: new RemoteError('network', `${words}: the connection failed (closed)`, { sent: false }),
  mayAskAgain: true,
});

async function allTools({ client }: Connection, limits: Limits): Promise<readonly McpListedTool[]> {
  const tools: McpListedTool[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      limits,
    );
    tools.push(...page.tools.map(listed));
    cursor = page.nextCursor;
    if (cursor === undefined && tools.length <= toolsMax) return tools;
    if (tools.length > toolsMax) break;
  }
  throw new RemoteError(
    'protocol',
    `failed to list MCP tools: the server has more than ${toolsMax} tools or ${pagesMax} pages of them`,
    { sent: true },
  );
}

type Listed = McpListedTool & { readonly [other: string]: unknown };

const listed = ({ name, description, inputSchema, annotations }: Listed): McpListedTool => ({
  name,
  ...(description !== undefined && { description }),
  ...(inputSchema && { inputSchema }),
  ...(annotations && { annotations }),
});

/** Closed by the last one who uses it. */
function retire(pooled: Pooled): void {
  pooled.isRetired = true;
  if (pooled.users === 0)
    void pooled.connection.then(
      (one) => one.close(),
      () => undefined,
    );
}

/** Headers may be secrets, and secrets may change: a connection made with the old ones is another connection. */
function nameOf({ address, transport, headers }: ResolvedMcpServer): string {
  return createHash('sha256')
    .update(JSON.stringify([address, transport, headers.map(({ name, value }) => [name, value])]))
    .digest('base64');
}

/** What others wait for too goes on without this one. */
async function unlessAborted<R>(work: Promise<R>, signal: AbortSignal): Promise<R> {
  const left = new AbortController();
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: left.signal });
      }),
    ]);
  } finally {
    left.abort();
  }
}
