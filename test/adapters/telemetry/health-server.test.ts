import { Registry } from 'prom-client';
import { startHealthServer } from '../../../src/adapters/telemetry/health-server.ts';
import { createLogger } from '../../../src/adapters/telemetry/logger.ts';
import {
  createControllerMetrics,
  createRegistry,
  createWorkerMetrics,
} from '../../../src/adapters/telemetry/metrics.ts';

const logger = createLogger({ level: 'silent', name: 'test' });
const start = (registry = new Registry(), port = 0) =>
  startHealthServer({ host: '127.0.0.1', port, registry, logger });

test('says why a process is not ready, and when it is', async () => {
  const server = await start();
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return [response.status, await response.text()];
  };
  try {
    expect(await ask('/healthz')).toEqual([200, 'ok']);
    expect(await ask('/readyz')).toEqual([503, 'starting']);

    server.setReady(true);
    expect(await ask('/readyz')).toEqual([200, 'ok']);

    server.setReady(false, 'the CRDs are not installed');
    expect(await ask('/readyz')).toEqual([503, 'the CRDs are not installed']);

    server.setLive(false, 'a watch is stuck');
    expect(await ask('/healthz')).toEqual([503, 'a watch is stuck']);
    expect(await ask('/other')).toEqual([404, '404 Not Found']);
  } finally {
    await server.close();
  }
});

test('shows both processes’ metrics to Prometheus, under our prefix', async () => {
  const registry = createRegistry();
  const { queriesFinished } = createControllerMetrics(registry);
  const { modelCalls } = createWorkerMetrics(registry);
  queriesFinished.inc({ phase: 'done' });
  modelCalls.inc({ outcome: 'ModelRateLimited' }, 2);

  const server = await start(registry);
  try {
    const response = await fetch(`http://127.0.0.1:${server.port}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const text = await response.text();
    expect(text).toContain('arkwright_queries_finished_total{phase="done"} 1');
    expect(text).toContain('arkwright_model_calls_total{outcome="ModelRateLimited"} 2');
    expect(text).toContain('process_resident_memory_bytes');
  } finally {
    await server.close();
  }
});

test('closes at once, even while a scraper holds its connection, and frees the port', async () => {
  const first = await start();
  await fetch(`http://127.0.0.1:${first.port}/healthz`);
  await first.close();

  const second = await start(new Registry(), first.port);
  expect(second.port).toBe(first.port);
  await second.close();
});

test('refuses a port that is taken', async () => {
  const first = await start();
  await expect(start(new Registry(), first.port)).rejects.toThrow(/EADDRINUSE/);
  await first.close();
});
