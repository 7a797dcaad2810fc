import type { Registry } from 'prom-client';
import { startHealthServer, type Health } from '../adapters/telemetry/health-server.ts';
import { createLogger, type Logger } from '../adapters/telemetry/logger.ts';
import { createRegistry } from '../adapters/telemetry/metrics.ts';
import { UsageError, type processSettings, type Settings } from './settings.ts';
import { untilStopped } from './until-stopped.ts';

/** Runs a process of a cluster: with a log, with health and metrics to ask for, until it is told to stop. */
export async function runProcess(
  name: string,
  settings: Settings<(typeof processSettings)[number]>,
  work: (process: {
    readonly logger: Logger;
    readonly registry: Registry;
    readonly health: Health;
    readonly signal: AbortSignal;
  }) => Promise<void>,
): Promise<void> {
  const { healthHost: host, healthPort: port, logLevel: level } = settings;
  const logger = createLogger({ level, name });
  const registry = createRegistry();
  const health = await startHealthServer({ host, port, registry, logger }).catch((error: unknown) => {
    throw new UsageError(
      `Health and metrics cannot listen on ${host}:${port} (${(error as Error).message}); ` +
        'give another --health-port, or 0 for any free one.',
      { cause: error },
    );
  });
  logger.info({ address: `http://${host}:${health.port}` }, 'health and metrics are served');

  try {
    await untilStopped((signal) => {
      signal.addEventListener('abort', () => health.setReady(false, 'stopping'), { once: true });
      return work({ logger, registry, health, signal });
    });
    logger.info('stopped');
  } finally {
    await health.close();
  }
}
