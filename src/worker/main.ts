import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Runtime, type Logger as TemporalLogger } from '@temporalio/worker';
import { createActivities } from '../activities/create-activities.ts';
import { createA2a } from '../adapters/a2a/create-a2a.ts';
import { createEngines } from '../adapters/engines/create-engines.ts';
import { createEvaluators } from '../adapters/evaluators/create-evaluators.ts';
import { createFilters } from '../adapters/filters/create-filters.ts';
import { gentle, queryEvents, type Events } from '../adapters/kubernetes/query-events.ts';
import { createEventRecorder } from '../adapters/kubernetes/event-recorder.ts';
import { connectKubernetes } from '../adapters/kubernetes/connection.ts';
import { createSecrets } from '../adapters/kubernetes/secrets.ts';
import { createMcp } from '../adapters/mcp/create-mcp.ts';
import { createMemories } from '../adapters/memory/create-memories.ts';
import { createModels } from '../adapters/models/create-models.ts';
import { createOutputs } from '../adapters/output/create-outputs.ts';
import { createStreams } from '../adapters/streams/create-streams.ts';
import type { Health } from '../adapters/telemetry/health-server.ts';
import type { Logger } from '../adapters/telemetry/logger.ts';
import type { WorkerMetrics } from '../adapters/telemetry/metrics.ts';
import { openTracing, type Tracing } from '../adapters/telemetry/tracing.ts';
import { templates } from '../adapters/templates/templates.ts';
import { runBuiltIn } from '../adapters/tools/built-in.ts';
import { createHttpTools } from '../adapters/tools/http-tool.ts';
import { createWorker } from './create-worker.ts';
import { eventSinks } from './run-events.ts';
import { measured } from './measured.ts';
import { spanPerCall, traced } from './traced.ts';

export interface WorkerSettings {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly temporal: ClientConnectConfig & { readonly namespace: string };
  readonly taskQueue: string;
  readonly maxCachedWorkflows: number;
  readonly maxConcurrentCalls: number;
  readonly events: Events;
  readonly logger: Logger;
  readonly health: Health;
  readonly metrics: WorkerMetrics;
}

const connectRetryMs = 1_000;

/**
 * Runs workflows and their calls until `signal` aborts; then takes no new work and waits for the calls under way, at
 * most as long as createWorker says. A Temporal server that is away is waited for, at the start and later.
 */
export async function runWorker(settings: WorkerSettings, signal: AbortSignal): Promise<void> {
  const { temporal, logger, health, metrics } = settings;
  Runtime.install({ logger: temporalLogger(logger), shutdownSignals: [] });
  // Of contexts made from now on, those of workflows: the SDK takes a stack trace for every promise, a fifth of all
  // time. A bug still says where it is, and a replay says how it got there.
  setFlagsFromString('--stack-trace-limit=2');

  const tracing = await openTracing(logger);
  const kubernetes = connectKubernetes(settings);
  const connection = await connectToTemporal(settings, signal);
  if (!connection) return;
  const recorder = createEventRecorder(kubernetes, {
    ...gentle,
    onDrop: (_about, { reason }) => metrics.eventsDropped.inc({ reason }),
  });
  try {
    const worker = await createWorker(connection, activitiesOf(settings, kubernetes, tracing), {
      ...(tracing && { interceptors: { activity: [spanPerCall(tracing)] } }),
      namespace: temporal.namespace,
      taskQueue: settings.taskQueue,
      maxCachedWorkflows: settings.maxCachedWorkflows,
      maxConcurrentActivityTaskExecutions: settings.maxConcurrentCalls,
      sinks: eventSinks(queryEvents(settings.events, recorder)),
    });
    const working = worker.run();
    signal.addEventListener('abort', () => worker.shutdown(), { once: true });
    if (signal.aborted) worker.shutdown();

    health.setReady(true);
    logger.info({ taskQueue: settings.taskQueue, namespace: temporal.namespace }, 'taking work');
    await working;
  } finally {
    health.setReady(false, 'stopped');
    await tracing?.close();
    await recorder.close();
    await connection.close();
    await kubernetes.close();
  }
}

function activitiesOf(
  { metrics }: WorkerSettings,
  kubernetes: ReturnType<typeof connectKubernetes>,
  tracing: Tracing | undefined,
) {
  const a2a = createA2a();
  const ports = measured(metrics, {
    models: createModels(),
    httpTools: createHttpTools(),
    builtIns: { run: runBuiltIn },
    templates,
    secrets: createSecrets(kubernetes),
    mcp: createMcp(),
    filters: createFilters(),
    outputs: createOutputs(),
    a2a,
    engines: createEngines(a2a),
    memories: createMemories(),
    streams: createStreams({
      onDropped: (reason, chunks) => metrics.chunksDropped.inc({ reason }, chunks),
    }),
    evaluators: createEvaluators(),
  });
  return createActivities(tracing ? traced(ports) : ports);
}

/** Undefined where `signal` aborted first. */
async function connectToTemporal(
  { temporal, logger, health }: WorkerSettings,
  signal: AbortSignal,
): Promise<NativeConnection | undefined> {
  const { connectionOptions } = temporal;
  while (!signal.aborted) {
    try {
      return await NativeConnection.connect(connectionOptions);
    } catch (error) {
      const why = `Temporal at ${connectionOptions.address ?? 'localhost:7233'} cannot be reached: ${(error as Error).message}`;
      health.setReady(false, why);
      logger.warn(why);
      await sleep(connectRetryMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

function temporalLogger(logger: Logger): TemporalLogger {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
  const say =
    (level: keyof typeof levels) =>
    (message: string, meta: object = {}): void =>
      logger[levels[level]](meta, message);
  return {
    log: (level, message, meta) => say(level)(message, meta),
    trace: say('TRACE'),
    debug: say('DEBUG'),
    info: say('INFO'),
    warn: say('WARN'),
    error: say('ERROR'),
  };
}
