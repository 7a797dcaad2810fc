import type { Failure } from '../../api/run.ts';

/**
 * Who speaks next: indexes into the team's members, who speak at the same time and hear the same things.
 * Nobody means that the team has finished.
 */
export type Next = { readonly speakers: readonly number[] } | { readonly failure: Failure };

export const finished: Next = { speakers: [] };

export const turnLimit = (message: string): Next => ({ failure: { type: 'TeamTurnLimit', message } });
