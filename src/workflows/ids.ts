/**
 * Names that people read in the Web UI. They are part of determinism: a change here is a change of the workflow, and
 * needs a patch marker while runs started before it are open.
 */

/** `t003`: turns are numbered through a whole run, nested teams count their own. */
export const turnId = (turn: number): string => `t${String(turn).padStart(3, '0')}`;

/** At most 255 characters, the limit of ids where Temporal keeps them in SQL. */
export const activityId = (turn: number, speaker: string, ...what: readonly (string | number)[]): string =>
  [turnId(turn), short(speaker), ...what.map((part) => short(String(part)))].join('.');

/** The same after every reset of the parent, so that a nested team is found, or replaced, by its id. */
export const teamWorkflowId = (
  query: { readonly namespace: string; readonly uid: string },
  path: readonly string[],
  team: string,
): string => `team:${query.namespace}:${query.uid}:${[...path, short(team)].join('.')}`;

/** A model invents tool names: keep what an id can hold. */
const short = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 60);
