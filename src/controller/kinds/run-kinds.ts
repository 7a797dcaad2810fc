import { createA2a } from '../../adapters/a2a/create-a2a.ts';
import type { KubernetesConnection } from '../../adapters/kubernetes/connection.ts';
import { createEventRecorder } from '../../adapters/kubernetes/event-recorder.ts';
import type { ObjectView } from '../../adapters/kubernetes/object-store.ts';
import { keyOf, keyText, parseKey } from '../../adapters/kubernetes/objects.ts';
import type { KubernetesObject } from '../../adapters/kubernetes/objects.ts';
import { createResources } from '../../adapters/kubernetes/resources.ts';
import { createMcp } from '../../adapters/mcp/create-mcp.ts';
import { createModels } from '../../adapters/models/create-models.ts';
import type { Logger } from '../../adapters/telemetry/logger.ts';
import type { ControllerMetrics } from '../../adapters/telemetry/metrics.ts';
import type { Tracing } from '../../adapters/telemetry/tracing.ts';
import {
  a2aServerKind,
  agentKind,
  evaluatorKind,
  executionEngineKind,
  group,
  mcpServerKind,
  memoryKind,
  modelKind,
  toolKind,
} from '../../api/kinds.ts';
import type { Kind } from '../../api/kinds.ts';
import { measured, reportFailures } from '../measure.ts';
import { tracedProbe } from '../traced.ts';
import type { Next, ObjectKey } from '../ports.ts';
import type { Resource } from '../snapshot/definitions.ts';
import { createWorkQueue } from '../work-queue.ts';
import type { WorkQueue } from '../work-queue.ts';
import { kubernetesObjects } from './kubernetes-objects.ts';
import { kubernetesOffers } from './kubernetes-offers.ts';
import { kubernetesValues } from './kubernetes-values.ts';
import { createPolls } from './polls.ts';
import type { Announce } from './ports.ts';
import { reconcileA2aServer } from './reconcile-a2a-server.ts';
import { reconcileEvaluator } from './reconcile-evaluator.ts';
import { reconcileExecutionEngine } from './reconcile-execution-engine.ts';
import { reconcileMcpServer } from './reconcile-mcp-server.ts';
import { reconcileMemory } from './reconcile-memory.ts';
import { reconcileModel } from './reconcile-model.ts';
import { reconcileTool } from './reconcile-tool.ts';

/** Objects of one kind looked at simultaneously: so many servers may be silent, each to its deadline, at no cost to others. */
const workers = 16;
const waits = { firstMs: 1_000, maxMs: 60_000 };
const showEveryMs = 5_000;

export interface KindsOptions {
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  /** Absent where nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Whether this process leads at this moment. */
  readonly mayAct: () => boolean;
}

export interface Kinds {
  /** Look at this object soon; nothing to do for kinds that have no status. */
  look(resource: Resource, key: string): void;
  /** Ends what is under way, and resolves when nothing is. */
  stop(): Promise<void>;
}

/**
 * Keeps the status of everything a Query can name, and the Tools and Agents that servers offer, until it is stopped;
 * each kind in a queue of its own. It acts with the controller's own rights (contract 3.9).
 */
export function runKinds(
  connection: KubernetesConnection,
  views: Readonly<Record<Resource, ObjectView<KubernetesObject>>>,
  { logger, metrics, tracing, mayAct }: KindsOptions,
): Kinds {
  const stopped = new AbortController();
  const mcp = createMcp();
  const a2a = createA2a();
  const recorder = createEventRecorder(connection, {
    onDrop: ({ kind, namespace, name }, { reason }, err) => {
      logger.debug({ object: `${kind} ${namespace}/${name}`, reason, err }, 'an Event was dropped');
    },
  });

  const resourcesOf = (kind: Kind) => createResources<KubernetesObject>(connection, { group, ...kind });
  const everyKind = <Status extends object>(kind: Kind & { readonly plural: Resource }) => ({
    objects: kubernetesObjects<Status>(resourcesOf(kind), views[kind.plural]),
    values: kubernetesValues(connection),
    announce: announceOf<Status>(kind),
    now: () => new Date(),
    polls: createPolls(() => new Date()),
    stopping: stopped.signal,
  });
  const announceOf =
    <Status>({ kind, version }: Kind): Announce<Status> =>
    ({ namespace, name, uid }, event) =>
      recorder.record({ apiVersion: `${group}/${version}`, kind, namespace, name, uid }, event);
  const tools = kubernetesOffers(resourcesOf(toolKind), views.tools);
  const agents = kubernetesOffers(resourcesOf(agentKind), views.agents);

  const queues = new Map<Resource, WorkQueue>();
  function run<Ports>(
    { kind, plural }: Kind & { readonly plural: Resource },
    reconcile: (key: ObjectKey, ports: Ports) => Promise<Next>,
    ports: Ports,
  ): void {
    const report = reportFailures(logger, kind);
    const queue = createWorkQueue({
      workers,
      waits,
      onError: (key, error, waitMs) => {
        if (!stopped.signal.aborted) report(key, error, waitMs);
      },
      work: measured(metrics, kind, async (key) => {
        if (!mayAct()) throw new Error('waiting for the lease to be renewed');
        return reconcile(parseKey(key), ports);
      }),
    });
    queues.set(plural, queue);
    for (const object of views[plural].values()) queue.add(keyText(keyOf(object)));
  }

  const { complete } = createModels();
  const probe = tracing ? tracedProbe(complete, tracing) : complete;
  run(modelKind, reconcileModel, { ...everyKind(modelKind), complete: probe });
  run(toolKind, reconcileTool, everyKind(toolKind));
  run(memoryKind, reconcileMemory, everyKind(memoryKind));
  run(evaluatorKind, reconcileEvaluator, everyKind(evaluatorKind));
  run(executionEngineKind, reconcileExecutionEngine, everyKind(executionEngineKind));
  run(mcpServerKind, reconcileMcpServer, { ...everyKind(mcpServerKind), offered: tools, mcp });
  run(a2aServerKind, reconcileA2aServer, { ...everyKind(a2aServerKind), offered: agents, a2a });

  const timer = setInterval(() => {
    for (const [plural, queue] of queues) metrics.queueDepth.set({ kind: plural }, queue.state().waiting);
  }, showEveryMs);

  return {
    look: (resource, key) => queues.get(resource)?.add(key),
    async stop() {
      clearInterval(timer);
      stopped.abort(new Error('this controller stops'));
      await Promise.all([...queues.values()].map((queue) => queue.drain()));
      await Promise.all([recorder.close(), mcp.close(), a2a.close()]);
    },
  };
}
