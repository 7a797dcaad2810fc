/** A broker in this process for the tests of one file, on a file that goes with it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/adapters/telemetry/logger.ts';
import { createBrokerMetrics, createRegistry } from '../../src/adapters/telemetry/metrics.ts';
import type { StreamBounds } from '../../src/broker/streams.ts';
import { startBroker, type Broker } from '../../src/broker/start-broker.ts';

export interface RunningBroker extends Broker {
  /** A counter's or gauge's lines, as Prometheus would read them. */
  metric(name: string): Promise<string>;
}

export async function runBrokerInTest(streams: Partial<StreamBounds> = {}): Promise<RunningBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'arkwright-broker-'));
  const registry = createRegistry();
  const broker = await startBroker({
    host: '127.0.0.1',
    port: 0,
    storage: { file: join(folder, 'broker.db') },
    logger: createLogger({ level: 'silent', name: 'test' }),
    metrics: createBrokerMetrics(registry),
    streams,
  });
  return {
    ...broker,
    metric: async (name) => registry.getSingleMetricAsString(`arkwright_broker_${name}`),
    async close() {
      await broker.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
