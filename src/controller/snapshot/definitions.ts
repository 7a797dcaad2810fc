/** What a snapshot is made of, as interfaces: the resources a Query names, read with the rights it has. */

export type Resource =
  | 'agents'
  | 'teams'
  | 'models'
  | 'tools'
  | 'mcpservers'
  | 'memories'
  | 'evaluators'
  | 'a2aservers'
  | 'executionengines';

export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** One resource as it was written; its spec may predate rules that forbid it. */
export interface Definition extends NamespacedName {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: unknown;
}

export interface ServicePort {
  readonly name?: string;
  readonly port: number;
}

/**
 * Reads with the rights of one service account. Each method rejects with an `Unbuildable` whose message is the API
 * server's own (not found, forbidden), and with any other error only for what heals by itself.
 */
export interface Definitions {
  get(resource: Resource, key: NamespacedName): Promise<Definition>;
  /** All of a namespace, by name. */
  list(resource: Resource, namespace: string): Promise<readonly Definition[]>;
  configMap(key: NamespacedName): Promise<Readonly<Record<string, string>>>;
  servicePorts(key: NamespacedName): Promise<readonly ServicePort[]>;
}

export const shown = ({ namespace, name }: NamespacedName): string => `${namespace}/${name}`;
