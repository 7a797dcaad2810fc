import type { KubernetesConnection } from '../adapters/kubernetes/connection.ts';
import type { ObjectView } from '../adapters/kubernetes/object-store.ts';
import { keyOf, keyText } from '../adapters/kubernetes/objects.ts';
import type { KubernetesObject } from '../adapters/kubernetes/objects.ts';
import { createResources } from '../adapters/kubernetes/resources.ts';
import type { Resources } from '../adapters/kubernetes/resources.ts';
import type { Logger } from '../adapters/telemetry/logger.ts';
import type { ControllerMetrics } from '../adapters/telemetry/metrics.ts';
import {
  a2aServerKind,
  agentKind,
  evaluatorKind,
  executionEngineKind,
  group,
  mcpServerKind,
  memoryKind,
  modelKind,
  queryKind,
  teamKind,
  toolKind,
} from '../api/kinds.ts';
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

export interface WatchResourcesOptions {
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  /** Gets the key of everything else that changes. A run keeps what it started with: no Query need look at it. */
  readonly onDefinition?: (resource: Resource, key: string) => void;
}

/** Local copies of all kinds a Query can name; `enqueue` gets the key of every Query that changes. */
export function watchResources(
  connection: KubernetesConnection,
  enqueue: (key: string) => void,
  { logger, metrics, onDefinition = () => {} }: WatchResourcesOptions,
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

  const watchDefinitions = (kind: Kind & { readonly plural: Resource }): Watch<KubernetesObject> =>
    startWatch(createResources<KubernetesObject>(connection, { group, ...kind }), {
      enqueue: (key) => onDefinition(kind.plural, key),
      logger,
      onRestart: restarted(kind),
      indexes: { [namespaceIndex]: ({ metadata }) => [metadata.namespace ?? ''] },
    });
  const definitions = {
    agents: watchDefinitions(agentKind),
    teams: watchDefinitions(teamKind),
    models: watchDefinitions(modelKind),
    tools: watchDefinitions(toolKind),
    mcpservers: watchDefinitions(mcpServerKind),
    memories: watchDefinitions(memoryKind),
    evaluators: watchDefinitions(evaluatorKind),
    a2aservers: watchDefinitions(a2aServerKind),
    executionengines: watchDefinitions(executionEngineKind),
  } satisfies Record<Resource, Watch<KubernetesObject>>;
  const all = [queries, ...Object.values(definitions)];

  return {
    queryResources,
    queries: queries.objects,
    definitions: mapped(definitions, ({ objects }) => objects),
    synced: async () => void (await Promise.all(all.map((watch) => watch.synced()))),
    queryKeys: () =>
      [...queries.objects.values()]
        .toSorted((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1))
        .map((query) => keyText(keyOf(query))),
    stop: async () => void (await Promise.all(all.map((watch) => watch.stop()))),
  };
}

const mapped = <Key extends string, From, To>(record: Record<Key, From>, change: (value: From) => To) =>
  Object.fromEntries(Object.entries<From>(record).map(([key, value]) => [key, change(value)])) as Record<
    Key,
    To
  >;
