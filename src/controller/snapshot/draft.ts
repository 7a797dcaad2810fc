import type { RunLimits } from '../../api/run.ts';
import type { Access, AgentPlan, Definition, Hash, TeamPlan, Value } from '../../api/snapshot.ts';
import { contentHash } from './content-hash.ts';
import type { Definitions } from './definitions.ts';

/** A snapshot while it is being put together. */
export interface Draft {
  readonly read: Definitions;
  readonly access: Access;
  readonly limits: RunLimits;
  /** The Query's own parameters, for `queryParameterRef`. */
  readonly queryParameters: Readonly<Record<string, Value>>;
  readonly agents: Record<string, AgentPlan>;
  readonly teams: Record<string, TeamPlan>;
  readonly definitions: Record<Hash, Definition>;
}

export const openDraft = (
  read: Definitions,
  access: Access,
  limits: RunLimits,
  queryParameters: Draft['queryParameters'],
): Draft => ({
  read,
  access,
  limits,
  queryParameters,
  agents: byName(),
  teams: byName(),
  definitions: byName(),
});

/** `constructor` is a name Kubernetes allows: nothing may be found that was not put there. */
const byName = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

/** Puts a definition into the snapshot, once however often it is used, and names it. */
export function define(draft: Draft, definition: Definition): Hash {
  const hash = contentHash(definition);
  draft.definitions[hash] = definition;
  return hash;
}
