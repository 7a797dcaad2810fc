import type { NamespacedName, ServicePort } from '../snapshot/definitions.ts';

/** An object that somebody wants to create or change, as it would then be. */
export interface Reviewed extends NamespacedName {
  /** As written; the rules must not rely on any schema having been checked. */
  readonly spec: unknown;
}

/**
 * Everything that is wrong with an object, in ARK's words and in ARK's order (contract section 2). What comes later is
 * looked for only when it is asked for: whoever wants the first problem pays for nothing behind it.
 */
export type Rules = (reviewed: Reviewed, read: Reader) => AsyncGenerator<string, void, undefined>;

export type Referred = 'agents' | 'teams' | 'models' | 'tools' | 'evaluators';

/**
 * The other objects. Each method rejects with an `Unbuildable` that is `missing`, and has the API server's words, where
 * the object is not there; with any other error where that cannot be told.
 */
export interface Reader {
  /** Perhaps as it was a moment ago. */
  get(resource: Referred, key: NamespacedName): Promise<Found>;
  /** As it is now: for what two hasty changes could get past. */
  getLatest(resource: Referred, key: NamespacedName): Promise<Found>;
  configMap(key: NamespacedName): Promise<Readonly<Record<string, string>>>;
  /** The names alone: no value of a Secret is anybody's business here. */
  secretKeys(key: NamespacedName): Promise<ReadonlySet<string>>;
  servicePorts(key: NamespacedName): Promise<readonly ServicePort[]>;
}

export interface Found {
  readonly spec?: unknown;
}
