import type { KubernetesConnection } from '../adapters/kubernetes/connection.ts';
import type { ObjectView } from '../adapters/kubernetes/object-store.ts';
import { keyOf, keyText } from '../adapters/kubernetes/objects.ts';
import type { KubernetesObject } from '../adapters/kubernetes/objects.ts';
import { createResources } from '../adapters/kubernetes/resources.ts';
import type { Resources } from '../adapters/kubernetes/resources.ts';
import type { Logger } from '../adapters/telemetry/logger.ts';
import type { ControllerMetrics } from '../adapters/telemetry/metrics.ts';
import { agentKind, group, modelKind, queryKind, teamKind, toolKind } from '../api/kinds.ts';
import type { Kind } from '../api/kinds.ts';
import { namespaceIndex } from './kubernetes-definitions.ts';
import { trimmedQuery } from './kubernetes-queries.ts';
import type { QueryObject } from './kubernetes-queries.ts';
import type { Resource } from './snapshot/definitions.ts';
import { startWatch } from './watch.ts';
import type { Watch } from './watch.ts';

export interface Watches {
  readonly queryResources: Resources<QueryObject>;
  readonly queries: ObjectView<QueryObject>;
  readonly definitions: Readonly<Record<Resource, ObjectView<KubernetesObject>>>;
  /** Resolves when everything that exists has been read. */
  synced(): Promise<void>;
  /** The keys of all Queries, in the order of their creation. */
  queryKeys(): readonly string[];
  stop(): Promise<void>;
}

/** Local copies of all kinds a Query can name; `enqueue` gets the key of every Query that changes. */
export function watchResources(
  connection: KubernetesConnection,
  enqueue: (key: string) => void,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: ControllerMetrics },
): Watches {
  const restarted = (kind: Kind) => () => metrics.watchRestarts.inc({ kind: kind.plural });

  const queryResources = createResources<QueryObject>(connection, { group, ...queryKind });
  const queries = startWatch(queryResources, {
    enqueue,
    logger,
    onRestart: restarted(queryKind),
    keepVanished: true,
    trim: trimmedQuery,
  });

  const watchDefinitions = (kind: Kind): Watch<KubernetesObject> =>
    startWatch(createResources<KubernetesObject>(connection, { group, ...kind }), {
      // A run keeps the definitions it started with: nothing is to be done when they change.
      enqueue: () => {},
      logger,
      onRestart: restarted(kind),
      indexes: { [namespaceIndex]: ({ metadata }) => [metadata.namespace ?? ''] },
    });
  const agents = watchDefinitions(agentKind);
  const teams = watchDefinitions(teamKind);
  const models = watchDefinitions(modelKind);
  const tools = watchDefinitions(toolKind);
  const all = [queries, agents, teams, models, tools];

  return {
    queryResources,
    queries: queries.objects,
    definitions: {
      agents: agents.objects,
      teams: teams.objects,
      models: models.objects,
      tools: tools.objects,
    },
    synced: async () => void (await Promise.all(all.map((watch) => watch.synced()))),
    queryKeys: () =>
      [...queries.objects.values()]
        .toSorted((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1))
        .map((query) => keyText(keyOf(query))),
    stop: async () => void (await Promise.all(all.map((watch) => watch.stop()))),
  };
}
