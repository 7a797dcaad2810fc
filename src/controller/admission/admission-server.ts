import { once } from 'node:events';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { AdmissionReview, review } from './review.ts';
import type { ReviewOptions } from './review.ts';

export interface Served {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

export interface AdmissionServer {
  /** The chosen one where 0 was asked for. */
  readonly port: number;
  /** New connections get this certificate; those that are open stay as they are. */
  serve(certificate: Served): void;
  /** Resolves once the port is free again. */
  close(): Promise<void>;
}

/** An update carries two objects, each at most what the API server takes: 3 MiB. */
const bodyBytesMax = 8 * 1024 ** 2;

/** An API server has at most 200 writes under way by default, and a few of them are as many as a cluster has. */
const connectionsMax = 1_000;
const bodyMsMax = 10_000;

/**
 * Longer than the API server keeps an idle connection (90 s), so that it is always the one to close: a review sent down
 * a connection that closes at that moment would be lost, and is not repeated.
 */
const keepAliveMs = 120_000;

/** Answers reviews over HTTPS on any `/validate-…` path, and `GET /healthz`. Rejects where the port cannot be had. */
export async function startAdmissionServer(
  options: ReviewOptions & { readonly host: string; readonly port: number; readonly certificate: Served },
): Promise<AdmissionServer> {
  const { host, port, certificate } = options;
  const server = createAdaptorServer({
    fetch: answers(options).fetch,
    createServer,
    serverOptions: { ...contextOf(certificate), keepAliveTimeout: keepAliveMs, requestTimeout: bodyMsMax },
  }) as Server;
  server.maxConnections = connectionsMax;
  server.listen(port, host);
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    serve: (next) => server.setSecureContext(contextOf(next)),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}

function answers(options: ReviewOptions): Hono {
  const app = new Hono();
  app.get('/healthz', (c) => c.text('ok'));
  app.post('/:path{validate-.+}', bodyLimit({ maxSize: bodyBytesMax }), async (c) => {
    const body = AdmissionReview.safeParse(await c.req.json().catch(() => undefined));
    if (!body.success) return c.text('the body is not an AdmissionReview of admission.k8s.io/v1', 400);
    return c.json(await review(body.data, options));
  });
  return app;
}

const contextOf = ({ certificate, key }: Served) => ({
  cert: certificate,
  key,
  minVersion: 'TLSv1.2' as const,
});
