import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Health } from '../adapters/telemetry/health-server.ts';
import { startBroker, type BrokerOptions } from './start-broker.ts';

export type BrokerSettings = Omit<BrokerOptions, 'streams'> & { readonly health: Health };

const checkEveryMs = 5_000;

/** Serves memories and streams until `signal` aborts. Ready is what has a database that answers. */
export async function runBroker(settings: BrokerSettings, signal: AbortSignal): Promise<void> {
  const { health, logger } = settings;
  const broker = await startBroker(settings);
  try {
    logger.info({ address: broker.url }, 'memories and streams are served');
    const watching = watch();
    if (!signal.aborted) await once(signal, 'abort');
    await watching;
  } finally {
    health.setReady(false, 'stopped');
    await broker.close();
  }

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      await broker.conversations.check().then(
        () => health.setReady(true),
        (error: Error) => health.setReady(false, `the database does not answer: ${error.message}`),
      );
      await sleep(checkEveryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
