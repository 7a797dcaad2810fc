import { once } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import { connectKubernetes } from '../adapters/kubernetes/connection.ts';
import type { ConnectOptions, KubernetesConnection } from '../adapters/kubernetes/connection.ts';
import { createEventRecorder } from '../adapters/kubernetes/event-recorder.ts';
import { gentle, queryEvents } from '../adapters/kubernetes/query-events.ts';
import type { Events } from '../adapters/kubernetes/query-events.ts';
import { keyText, parseKey } from '../adapters/kubernetes/objects.ts';
import type { Health } from '../adapters/telemetry/health-server.ts';
import type { Logger } from '../adapters/telemetry/logger.ts';
import type { ControllerMetrics } from '../adapters/telemetry/metrics.ts';
import { openTracing } from '../adapters/telemetry/tracing.ts';
import type { RunLimits } from '../api/run.ts';
import { announced } from './announce.ts';
import { accessReviews } from './access-reviews.ts';
import { startAdmission } from './admission/run-admission.ts';
import type { AdmissionSettings } from './admission/run-admission.ts';
import { runEvaluations } from './evaluations/run-evaluations.ts';
import type { EvaluationsController } from './evaluations/run-evaluations.ts';
import { runKinds } from './kinds/run-kinds.ts';
import type { Kinds } from './kinds/run-kinds.ts';
import { kubernetesDefinitions } from './kubernetes-definitions.ts';
import { kubernetesQueries } from './kubernetes-queries.ts';
import { becomeLeader, instanceName } from './leader-election.ts';
import type { Leadership } from './leader-election.ts';
import { counted, measured, reportFailures, showState } from './measure.ts';
import type { ControllerPorts } from './ports.ts';
import { reconcileQuery } from './reconcile-query.ts';
import { watchRuns } from './run-watcher.ts';
import type { RunWatcher } from './run-watcher.ts';
import { registeredSearchAttributes } from './search-attributes.ts';
import { buildSnapshot } from './snapshot/build-snapshot.ts';
import { temporalCalls } from './temporal-calls.ts';
import type { TemporalCalls } from './temporal-calls.ts';
import { temporalRuns } from './temporal-runs.ts';
import { traced, traceStartup } from './traced.ts';
import { watchResources } from './watch-resources.ts';
import type { Watches } from './watch-resources.ts';
import { createWorkQueue } from './work-queue.ts';
import type { WorkQueue } from './work-queue.ts';

/** Queries looked at simultaneously; each spends its time waiting for the two servers. */
const workers = 8;
/** Waits of a Query whose look failed; the longest is the time an outage goes on for a Query after its end. */
const waits = { firstMs: 100, maxMs: 15_000 };

export interface ControllerSettings extends Pick<ConnectOptions, 'kubeconfig' | 'context'> {
  /** Where the lease is held. */
  readonly namespace: string;
  readonly leaderElection: boolean;
  readonly temporal: ClientConnectConfig & { readonly namespace: string };
  readonly temporalUi?: string;
  readonly taskQueue: string;
  readonly limits: RunLimits;
  readonly events: Events;
  /** Absent: the API server does not ask us, and what is wrong with an object shows in status alone. */
  readonly admission?: AdmissionSettings | undefined;
  readonly logger: Logger;
  readonly health: Health;
  readonly metrics: ControllerMetrics;
}

/**
 * Acts for every Query until `signal` aborts; then lets what is under way end, gives the lead back and resolves.
 * Rejects where the lead is lost: another controller acts, and this process must begin anew. Neither the API server
 * nor Temporal need be there; what cannot be done without them is done when they are back.
 */
export async function runController(settings: ControllerSettings, signal: AbortSignal): Promise<void> {
  const { logger, health, metrics, kubeconfig, context } = settings;
  const tracing = await openTracing(logger);
  if (tracing) traceStartup(tracing);
  const connection = connectKubernetes({
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    userAgent: 'arkwright-controller',
  });
  const temporal = Connection.lazy(settings.temporal.connectionOptions);
  const client = new Client({ connection: temporal, namespace: settings.temporal.namespace });
  const calls = temporalCalls(client);
  /** Absent while this process does not lead: what changes meanwhile is seen when all Queries are looked at. */
  let queue: WorkQueue | undefined;
  let evaluations: EvaluationsController | undefined;
  const enqueue = (key: string): void => {
    queue?.add(key);
    evaluations?.queryChanged(key);
  };

  let kinds: Kinds | undefined;
  const watches = watchResources(connection, enqueue, {
    logger,
    metrics,
    onDefinition: (resource, key) => {
      kinds?.look(resource, key);
      if (resource === 'evaluators') evaluations?.evaluatorChanged(key);
    },
  });
  const watcher = watchRuns(runsIn(client, calls, settings), (key) => enqueue(keyText(key)));
  const admission =
    settings.admission &&
    startAdmission(connection, watches.definitions, {
      ...settings.admission,
      namespace: settings.namespace,
      logger,
    });
  const readAs = kubernetesDefinitions(connection, watches.definitions, accessReviews(connection));
  const recorder = createEventRecorder(connection, gentle);
  const tell = queryEvents(settings.events, recorder);
  const told = announced(counted(portsOf(settings, readAs, watches, watcher), metrics), tell);
  const ports = tracing ? traced(told, tracing) : told;

  let leadership: Leadership | undefined;
  let hideState: (() => void) | undefined;
  try {
    health.setReady(false, 'reading Queries and all they can name (are the CRDs of all kinds installed?)');
    await unless(signal, watches.synced());
    if (admission) health.setReady(false, 'registering the admission webhook');
    await unless(signal, admission?.active ?? Promise.resolve());
    health.setReady(true);
    leadership = settings.leaderElection ? await lead(settings, connection, signal) : undefined;
    metrics.leader.set(1);
    logger.info({ queries: watches.queries.size }, 'acting');

    const mayAct = (): boolean => leadership?.holds() ?? true;
    queue = createWorkQueue({
      workers,
      waits,
      onError: reportFailures(logger, 'Query'),
      work: measured(metrics, 'Query', async (key) => {
        if (!mayAct()) throw new Error('waiting for the lease to be renewed');
        return reconcileQuery(parseKey(key), ports);
      }),
    });
    for (const key of watches.queryKeys()) queue.add(key);
    kinds = runKinds(connection, watches.definitions, { logger, metrics, tracing, mayAct });
    evaluations = runEvaluations({ ...settings, connection, client, calls, ...watches, readAs, mayAct });
    hideState = showState(metrics, queue, watcher);
    await unless(signal, leadership ? untilAborted(leadership.lost) : new Promise<never>(() => {}));
    throw leadership?.lost.reason;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    metrics.leader.set(0);
    hideState?.();
    await admission?.stop();
    await Promise.all([queue?.drain(), kinds?.stop(), evaluations?.stop()]);
    watcher.stop();
    await watches.stop();
    await recorder.close();
    await leadership?.resign();
    await tracing?.close();
    await connection.close();
    await calls.ended();
    await temporal.close();
  }
}

function runsIn(client: Client, calls: TemporalCalls, { taskQueue, limits, logger }: ControllerSettings) {
  const searchAttributes = registeredSearchAttributes(client, calls, logger);
  searchAttributes.prepare().catch((err: unknown) => {
    logger.warn({ err }, 'Temporal cannot be reached yet; Queries wait until it can');
  });
  return temporalRuns(client, { taskQueue, limits, searchAttributes, calls });
}

function portsOf(
  { temporalUi, temporal, limits }: ControllerSettings,
  readAs: ReturnType<typeof kubernetesDefinitions>,
  watches: Watches,
  runs: RunWatcher,
): ControllerPorts {
  return {
    now: () => new Date(),
    queries: kubernetesQueries(watches.queryResources, watches.queries),
    runs,
    snapshots: { build: (query) => buildSnapshot(query, readAs, limits) },
    ...(temporalUi && { temporalUi: { address: temporalUi, namespace: temporal.namespace } }),
  };
}

function lead(
  { namespace, logger }: ControllerSettings,
  connection: KubernetesConnection,
  signal: AbortSignal,
): Promise<Leadership> {
  return becomeLeader(connection, {
    namespace,
    instance: instanceName(),
    signal,
    onWaiting: (why) => {
      if ('holder' in why) logger.info(why, 'standing by until the lease is free');
      else logger.warn({ err: why.error }, 'could not ask for the lease');
    },
  });
}

/** The promise, or a rejection as soon as the signal aborts. */
async function unless<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return Promise.race([promise, untilAborted(signal).then(() => Promise.reject(signal.reason as Error))]);
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
