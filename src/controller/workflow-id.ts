import type { RunOwner } from './ports.ts';

const nameLengthMax = 120;

/**
 * The id of a Query's workflow, at most 225 characters, safe in URLs and shells. The uid makes it this object's and
 * no other's: a Query deleted and created again under the same name gets a run of its own.
 */
export const workflowIdOf = ({ namespace, name, uid }: RunOwner): string =>
  `query:${namespace}:${name.slice(0, nameLengthMax)}:${uid}`;
