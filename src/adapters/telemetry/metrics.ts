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
  const registers = [registry];
  return {
    reconciles: new Counter({
      name: 'arkwright_reconciles_total',
      help: 'Objects looked at, by kind and by how it ended: settled, requeued or failed.',
      labelNames: ['kind', 'outcome'] as const,
      registers,
    }),
    reconcileSeconds: new Histogram({
      name: 'arkwright_reconcile_duration_seconds',
      help: 'Time to look at one object.',
      labelNames: ['kind'] as const,
      buckets: reconcileBuckets,
      registers,
    }),
    queueDepth: new Gauge({
      name: 'arkwright_queue_depth',
      help: 'Objects waiting to be looked at.',
      labelNames: ['kind'] as const,
      registers,
    }),
    runsStarted: new Counter({
      name: 'arkwright_runs_started_total',
      help: 'Workflows started for Queries.',
      registers,
    }),
    queriesFinished: new Counter({
      name: 'arkwright_queries_finished_total',
      help: 'Queries whose end was written to status, by phase.',
      labelNames: ['phase'] as const,
      registers,
    }),
    runsWatched: new Gauge({
      name: 'arkwright_runs_watched',
      help: 'Unfinished Queries whose result is waited for, by way: poll (long-poll) or describe.',
      labelNames: ['way'] as const,
      registers,
    }),
    watchRestarts: new Counter({
      name: 'arkwright_watch_restarts_total',
      help: 'Watches of the Kubernetes API that broke and were started again.',
      labelNames: ['kind'] as const,
      registers,
    }),
    leader: new Gauge({
      name: 'arkwright_leader',
      help: '1 while this process is the one that acts.',
      registers,
    }),
  };
}

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

/** What the worker counts. `outcome` is `ok` or the name of the failure (docs/failures.md). */
export function createWorkerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    modelCalls: new Counter({
      name: 'arkwright_model_calls_total',
      help: 'Calls to models, every attempt counted.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    modelCallSeconds: new Histogram({
      name: 'arkwright_model_call_duration_seconds',
      help: 'Time of one call to a model.',
      buckets: callBuckets,
      registers,
    }),
    tokens: new Counter({
      name: 'arkwright_tokens_total',
      help: 'Tokens as the models counted them, by kind: prompt or completion.',
      labelNames: ['kind'] as const,
      registers,
    }),
    toolCalls: new Counter({
      name: 'arkwright_tool_calls_total',
      help: 'Uses of tools, every attempt counted.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    toolCallSeconds: new Histogram({
      name: 'arkwright_tool_call_duration_seconds',
      help: 'Time of one use of a tool.',
      buckets: callBuckets,
      registers,
    }),
    transcriptReads: new Counter({
      name: 'arkwright_transcript_reads_total',
      help: 'Transcripts needed by calls, by where they were found: memory or run.',
      labelNames: ['from'] as const,
      registers,
    }),
    eventsDropped: new Counter({
      name: 'arkwright_events_dropped_total',
      help: 'Kubernetes Events not written because there were too many.',
      registers,
    }),
  };
}
