import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { Registry } from 'prom-client';
import type { Logger } from './logger.ts';

/** What a process says about itself. Live: do not restart me. Ready: I do my work now. */
export interface Health {
  setLive(live: boolean, why?: string): void;
  setReady(ready: boolean, why?: string): void;
}

export interface HealthServer extends Health {
  /** The port it listens on; the chosen one where 0 was asked for. */
  readonly port: number;
  /** Resolves once the port is free again. */
  close(): Promise<void>;
}

/**
 * Answers `GET /healthz`, `GET /readyz` (200 or 503, with the reason as text) and `GET /metrics` (Prometheus text).
 * A process is live from the start and ready when it says so. Rejects where the port cannot be had.
 */
export async function startHealthServer(options: {
  readonly host: string;
  readonly port: number;
  readonly registry: Registry;
  readonly logger: Logger;
}): Promise<HealthServer> {
  const { host, port, registry, logger } = options;
  const live: State = { ok: true, why: '' };
  const ready: State = { ok: false, why: 'starting' };

  const app = new Hono();
  app.get('/healthz', (c) => c.text(said(live), live.ok ? 200 : 503));
  app.get('/readyz', (c) => c.text(said(ready), ready.ok ? 200 : 503));
  app.get('/metrics', async (c) =>
    c.text(await registry.metrics(), 200, { 'content-type': registry.contentType }),
  );

  const server = createAdaptorServer({ fetch: app.fetch });
  server.listen(port, host);
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    setLive: (ok, why = '') => change(live, { ok, why }, 'live', logger),
    setReady: (ok, why = '') => change(ready, { ok, why }, 'ready', logger),
    async close() {
      const closed = once(server, 'close');
      server.close();
      // Probes and scrapers keep connections open; waiting for them would hold up the process's end.
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
    },
  };
}

interface State {
  ok: boolean;
  why: string;
}

const said = ({ ok, why }: State): string => (ok ? 'ok' : why || 'not ok');

function change(state: State, next: State, word: string, logger: Logger): void {
  if (state.ok !== next.ok) logger.info({ why: next.why || undefined }, next.ok ? word : `not ${word}`);
  Object.assign(state, next);
}
