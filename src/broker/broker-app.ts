import { Hono, type Context } from 'hono';
import type { BrokerMetrics } from '../adapters/telemetry/metrics.ts';
import type { Logger } from '../adapters/telemetry/logger.ts';
import { conversationRoutes } from './conversation-routes.ts';
import type { Conversations } from './conversations.ts';
import { createBodyReader } from './read-body.ts';
import { Refusal } from './refusal.ts';
import { isUp, sessionRoutes } from './session-routes.ts';
import { streamRoutes } from './stream-routes.ts';
import type { Streams } from './streams.ts';

export interface BrokerParts {
  readonly conversations: Conversations;
  readonly streams: Streams;
  readonly logger: Logger;
  readonly metrics: BrokerMetrics;
  readonly stopping: AbortSignal;
}

/** Everything the broker answers: both dialects of memory over the same conversations, and streams. */
export function brokerApp(parts: BrokerParts): Hono {
  const { logger, metrics, conversations, stopping } = parts;
  const services = { ...parts, withJson: createBodyReader() };

  /** What a request that failed is answered; `write` puts it into the form of its dialect. */
  const failing =
    (write: (c: Context, message: string, status: Refusal['status']) => Response) =>
    (error: Error, c: Context): Response => {
      const isOurs = !(error instanceof Refusal);
      if (isOurs) logger.error({ error, method: c.req.method }, 'a request failed');
      metrics.refusals.inc({ status: isOurs ? 500 : error.status });
      return isOurs ? write(c, 'Internal server error', 500) : write(c, error.message, error.status);
    };
  const asText = failing((c, message, status) => c.text(message, status));
  const asJson = failing((c, message, status) => c.json({ error: message }, status));

  return new Hono()
    .get('/ready', async (c) => {
      if (stopping.aborted) return c.text('stopping', 503);
      return (await isUp(conversations)) ? c.text('ok') : c.text('Database unavailable', 503);
    })
    .route('/', sessionRoutes(services).onError(asText))
    .route('/', conversationRoutes(services).onError(asJson))
    .route('/', streamRoutes(services).onError(asJson))
    .onError(asText);
}
