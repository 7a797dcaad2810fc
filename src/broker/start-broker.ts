import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Logger } from '../adapters/telemetry/logger.ts';
import type { BrokerMetrics } from '../adapters/telemetry/metrics.ts';
import { brokerApp } from './broker-app.ts';
import type { Conversations } from './conversations.ts';
import { openDatabase, type Storage } from './open-database.ts';
import { storedConversations } from './stored-conversations.ts';
import { Streams, type StreamBounds } from './streams.ts';

export interface BrokerOptions {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly storage: Storage;
  readonly logger: Logger;
  readonly metrics: BrokerMetrics;
  readonly streams?: Partial<StreamBounds>;
}

export interface Broker {
  readonly url: string;
  readonly conversations: Conversations;
  /** Resolves when what was begun is answered, readers are let go, and database and port are free. */
  close(): Promise<void>;
}

const connectionsMax = 2_000;
const headersTimeoutMs = 10_000;
/** Nothing has moved on the connection for so long: neither side is waited for any longer. */
const silenceMaxMs = 11 * 60_000;
const sweepEveryMs = 30_000;
/** What is under way at the end gets so long. */
const finishWithinMs = 5_000;

/** Serves until it is closed. Rejects where the database cannot be opened or the port cannot be had. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { host, port, logger, metrics } = options;
  const database = await openDatabase(options.storage, logger);
  const conversations = storedConversations(database);
  const streams = new Streams(options.streams);
  const stopping = new AbortController();
  const app = brokerApp({ conversations, streams, logger, metrics, stopping: stopping.signal });

  const server = createAdaptorServer({
    fetch: app.fetch,
    // Whole requests have no limit of their own here, because writers of streams take their time; bodies have theirs.
    serverOptions: { headersTimeout: headersTimeoutMs, requestTimeout: 0 },
  }) as Server;
  server.maxConnections = connectionsMax;
  server.setTimeout(silenceMaxMs);
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    await database.close();
    throw error;
  }

  const stopSweeping = sweeping(conversations, streams, options);
  const { port: chosen } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${chosen}`,
    conversations,
    async close() {
      stopping.abort();
      await closed(server);
      await stopSweeping();
      await database.close();
    },
  };
}

async function closed(server: Server): Promise<void> {
  const end = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const force = setTimeout(() => server.closeAllConnections(), finishWithinMs);
  await end;
  clearTimeout(force);
}

/** Removes what has expired, again and again; the returned function ends that. */
function sweeping(
  conversations: Conversations,
  streams: Streams,
  { logger, metrics }: BrokerOptions,
): () => Promise<void> {
  let sweep = Promise.resolve();
  let isSweeping = false;

  async function sweepOnce(): Promise<void> {
    streams.sweep();
    metrics.streams.set(streams.count);
    metrics.streamBytes.set(streams.bytes);
    metrics.streamReaders.set(streams.readers);
    try {
      const expired = await conversations.sweep();
      if (expired > 0) logger.info({ messages: expired }, 'removed what had expired');
    } catch (error) {
      logger.warn({ error }, 'could not remove what has expired; trying again later');
    }
  }

  const timer = setInterval(() => {
    if (isSweeping) return;
    isSweeping = true;
    sweep = sweepOnce().finally(() => (isSweeping = false));
  }, sweepEveryMs);
  return () => {
    clearInterval(timer);
    return sweep;
  };
}
