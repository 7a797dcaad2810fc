import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Seconds; from a local mock to a model that thinks for minutes. */
const callBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Seconds; a reconcile reads caches and makes at most a few calls. */
const reconcileBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** A registry with Node's own process metrics, to which each process adds its own. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

export type ControllerMetrics = ReturnType<typeof createControllerMetrics>;

/** What the controller counts. Labels hold kinds, phases and outcomes, never names: their number is bounded. */
export function createControllerMetrics(registry: Registry) {
  const { counter, gauge, histogram } = metricsIn(registry);
  return {
    reconciles: counter('reconciles_total', 'Looks at objects, by how they ended.', 'kind', 'outcome'),
    reconcileSeconds: histogram('reconcile_duration_seconds', 'Time of a look.', reconcileBuckets, 'kind'),
    queueDepth: gauge('queue_depth', 'Objects waiting to be looked at.', 'kind'),
    runsStarted: counter('runs_started_total', 'Workflows started for Queries.'),
    queriesFinished: counter('queries_finished_total', 'Queries whose end was written to status.', 'phase'),
    runsWatched: gauge('runs_watched', 'Unfinished runs waited for, by poll (long-poll) or describe.', 'way'),
    watchRestarts: counter(
      'watch_restarts_total',
      'Watches of Kubernetes that broke and began again.',
      'kind',
    ),
    leader: gauge('leader', '1 while this process is the one that acts.'),
  };
}

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

/** What the worker counts. `outcome` is `ok` or the name of the failure (docs/failures.md). */
export function createWorkerMetrics(registry: Registry) {
  const { counter, histogram } = metricsIn(registry);
  return {
    modelCalls: counter('model_calls_total', 'Calls to models, every attempt counted.', 'outcome'),
    modelCallSeconds: histogram('model_call_duration_seconds', 'Time of one call to a model.', callBuckets),
    tokens: counter('tokens_total', 'Tokens as the models counted them: prompt or completion.', 'kind'),
    eventsDropped: counter('events_dropped_total', 'Events of Queries that were not written.', 'reason'),
    toolCalls: counter('tool_calls_total', 'Uses of tools, every attempt counted.', 'outcome'),
    toolCallSeconds: histogram('tool_call_duration_seconds', 'Time of one use of a tool.', callBuckets),
    chunksDropped: counter('stream_chunks_dropped_total', 'Chunks that no reader will see.', 'reason'),
  };
}

export type BrokerMetrics = ReturnType<typeof createBrokerMetrics>;

/** What the broker counts. */
export function createBrokerMetrics(registry: Registry) {
  const { counter, gauge } = metricsIn(registry);
  return {
    messages: counter('broker_messages_total', 'Messages: added, or repeated and so left out.', 'outcome'),
    refusals: counter('broker_refusals_total', 'Requests that were not served, by HTTP status.', 'status'),
    chunks: counter('broker_chunks_total', 'Chunks of streams that were taken.'),
    readersCutOff: counter('broker_readers_cut_off_total', 'Readers not served to the end.', 'reason'),
    streams: gauge('broker_streams', 'Streams that can be read.'),
    streamBytes: gauge('broker_stream_bytes', 'Memory that streams take.'),
    streamReaders: gauge('broker_stream_readers', 'Readers of streams.'),
  };
}

const metricsIn = (registry: Registry) => ({
  counter: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `arkwright_${name}`, help, labelNames, registers: [registry] }),
  gauge: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `arkwright_${name}`, help, labelNames, registers: [registry] }),
  histogram: <Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: Label[]
  ) => new Histogram({ name: `arkwright_${name}`, help, labelNames, buckets, registers: [registry] }),
});
