import type { Client } from '@temporalio/client';
import type { KubernetesConnection } from '../../adapters/kubernetes/connection.ts';
import type { ObjectView } from '../../adapters/kubernetes/object-store.ts';
import { keyOf, keyText, parseKey } from '../../adapters/kubernetes/objects.ts';
import type { KubernetesObject } from '../../adapters/kubernetes/objects.ts';
import { withoutBookkeeping } from '../../adapters/kubernetes/reflector.ts';
import { createResources } from '../../adapters/kubernetes/resources.ts';
import type { Logger } from '../../adapters/telemetry/logger.ts';
import { evaluationKind, group } from '../../api/kinds.ts';
import { namespaceIndex } from '../kubernetes-definitions.ts';
import type { QueryObject } from '../kubernetes-queries.ts';
import type { Next, ObjectKey } from '../ports.ts';
import type { Definitions } from '../snapshot/definitions.ts';
import type { Access } from '../../api/snapshot.ts';
import type { TemporalCalls } from '../temporal-calls.ts';
import { startWatch } from '../watch.ts';
import { createWorkQueue } from '../work-queue.ts';
import type { WorkQueue } from '../work-queue.ts';
import { judgeQuery } from './judge-query.ts';
import { controllerOf, kubernetesEvaluations, parentIndex } from './kubernetes-evaluations.ts';
import type { EvaluationObject } from './kubernetes-evaluations.ts';
import type { EvaluationPorts, JudgedQuery, SeenEvaluator } from './ports.ts';
import { reconcileEvaluation } from './reconcile-evaluation.ts';
import { temporalEvaluations } from './temporal-evaluations.ts';

/** Objects looked at simultaneously, of each of the two queues. */
const workers = 4;
const waits = { firstMs: 200, maxMs: 30_000 };

export interface EvaluationsSettings {
  readonly connection: KubernetesConnection;
  readonly client: Client;
  readonly calls: TemporalCalls;
  readonly taskQueue: string;
  readonly logger: Logger;
  readonly queries: ObjectView<QueryObject>;
  readonly definitions: Readonly<Record<'evaluators' | 'models', ObjectView<KubernetesObject>>>;
  readonly readAs: (access: Access) => Definitions;
  /** Asked before each look. */
  readonly mayAct: () => boolean;
}

export interface EvaluationsController {
  queryChanged(key: string): void;
  /** Its finished Queries may be for it to judge. */
  evaluatorChanged(key: string): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

/**
 * Acts for every Evaluation, and makes those that Evaluators with a selector ask for (contract sections 7.2 and 7.3), as
 * soon as all of them have been read: a batch of which only some children were seen must not be judged.
 */
export function runEvaluations(settings: EvaluationsSettings): EvaluationsController {
  const { connection, logger, queries, definitions, mayAct } = settings;
  /** Absent until then. */
  let evaluations: WorkQueue | undefined;
  let judged: WorkQueue | undefined;

  const resources = createResources<EvaluationObject>(connection, { group, ...evaluationKind });
  const watch = startWatch(resources, {
    enqueue: evaluationChanged,
    logger,
    keepVanished: true,
    trim: withoutBookkeeping,
    indexes: { [parentIndex]: (object) => [controllerOf(object)?.uid ?? ''].filter(Boolean) },
  });
  const ports = portsOf(settings, resources, watch.objects);

  function evaluationChanged(key: string): void {
    evaluations?.add(key);
    const { namespace, name } = parseKey(key);
    const object =
      watch.objects.get({ namespace, name }) ?? watch.objects.vanished({ namespace, name }).at(-1);
    const parent = object && controllerOf(object);
    if (parent) evaluations?.add(keyText({ namespace, name: parent.name }));
  }

  const queueOf = (work: (key: ObjectKey, ports: EvaluationPorts) => Promise<Next>): WorkQueue =>
    createWorkQueue({
      workers,
      waits,
      work: async (key) => {
        if (!mayAct()) throw new Error('waiting for the lease to be renewed');
        return work(parseKey(key), ports);
      },
      onError: (key, err, waitMs) =>
        logger.warn({ key, err, retryInMs: Math.round(waitMs) }, 'evaluations could not be looked at'),
    });

  function begin(): void {
    evaluations = queueOf(reconcileEvaluation);
    judged = queueOf(judgeQuery);
    for (const object of watch.objects.values()) evaluations.add(keyText(keyOf(object)));
    for (const object of queries.values()) judged.add(keyText(keyOf(object)));
  }
  // Rejects where it was stopped before.
  watch.synced().then(begin, () => {});

  return {
    queryChanged: (key) => judged?.add(key),
    evaluatorChanged(key) {
      const { namespace } = parseKey(key);
      if (!selectsAnything(definitions.evaluators.get(parseKey(key)))) return;
      for (const query of queries.values()) {
        if (query.metadata.namespace === namespace) judged?.add(keyText(keyOf(query)));
      }
    },
    async stop() {
      await Promise.all([evaluations?.drain(), judged?.drain(), watch.stop()]);
    },
  };
}

function portsOf(
  { client, calls, taskQueue, queries, definitions, readAs }: EvaluationsSettings,
  resources: Parameters<typeof kubernetesEvaluations>[0],
  view: ObjectView<EvaluationObject>,
): EvaluationPorts {
  return {
    now: () => new Date(),
    evaluations: kubernetesEvaluations(resources, view),
    runs: temporalEvaluations(client, { taskQueue, calls }),
    evaluator(key) {
      const object = definitions.evaluators.get(key);
      return object && evaluatorOf(object);
    },
    evaluatorsIn: (namespace) => definitions.evaluators.byIndex(namespaceIndex, namespace).map(evaluatorOf),
    query(key) {
      const object = queries.get(key);
      return object && judgedQuery(object);
    },
    hasModel: (key) => definitions.models.get(key) !== undefined,
    readAs: (namespace) => readAs({ namespace, serviceAccount: 'default' }),
  };
}

const selectsAnything = (object: KubernetesObject | undefined): boolean =>
  (object?.spec as { readonly selector?: unknown } | undefined)?.selector !== undefined;

const evaluatorOf = (object: KubernetesObject): SeenEvaluator => ({
  ...keyOf(object),
  spec: object.spec,
  status: object.status ?? {},
});

const judgedQuery = (object: QueryObject): JudgedQuery => ({
  ...keyOf(object),
  uid: object.metadata.uid,
  generation: object.metadata.generation ?? 1,
  labels: object.metadata.labels ?? {},
  phase: object.status?.phase ?? 'pending',
  isDeleted: object.metadata.deletionTimestamp !== undefined,
});
