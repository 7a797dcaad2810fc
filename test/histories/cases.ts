import type { TargetPlan, TeamPlan } from '../../src/api/snapshot.ts';
import type { Cast, Line, Play, Script } from '../workflows/theatre.ts';

/** A run worth keeping: later versions of the workflow code must still decide what it decided. */
export interface Case {
  readonly cast: Cast;
  readonly script?: Script;
  /** What happens to the run from outside, before its end. */
  readonly meanwhile?: (play: Play) => Promise<unknown>;
}

const members = (...names: string[]) => names.map((name) => ({ type: 'agent', name }) as const);
const target = (type: string, name: string) => ({ type, name }) as TargetPlan;

const strategies: Record<string, object> = {
  sequential: {},
  parallel: {},
  'round-robin': { maxTurns: 2 },
  selector: { maxTurns: 3, model: 'chooser' },
  graph: { maxTurns: 4, edges: { ann: 'bob', bob: 'cem' } },
};

/** Teams that end only by `terminate` are told to, where the case is about something else. */
const closing: Script = { cem: [{ tools: ['terminate'] }], 'select trip': ['ann', 'bob', 'cem'] };
const ends = (bob: readonly Line[]): Script => ({ ...closing, bob });

function teamCases(strategy: string, more: object): Record<string, Case> {
  const trip = { type: 'team', name: 'trip', strategy, members: members('ann', 'bob', 'cem'), ...more } as TeamPlan;
  const outer: TeamPlan = {
    type: 'team',
    name: 'outer',
    strategy: 'sequential',
    members: [...members('first'), { type: 'team', name: 'trip' }, ...members('last')],
  };
  const alone: Cast = { targets: [target('team', 'trip')], teams: [trip] };
  return {
    [`${strategy}-ok`]: { cast: alone, script: closing },
    [`${strategy}-retried`]: { cast: alone, script: ends([{ fails: 'ModelUnavailable' }, 'again']) },
    [`${strategy}-failed`]: { cast: alone, script: ends([{ fails: 'ModelUnauthorized' }]) },
    [`${strategy}-canceled`]: {
      cast: alone,
      script: ends([{ hangs: true }]),
      meanwhile: (play) => play.whenAsked('bob').then(() => play.handle.cancel()),
    },
    [`${strategy}-nested`]: { cast: { targets: [target('team', 'outer')], teams: [outer, trip] }, script: closing },
  };
}

export const cases: Readonly<Record<string, Case>> = {
  'agent-ok': { cast: { targets: [target('agent', 'ann')] } },
  'agent-with-tools': {
    cast: { targets: [target('agent', 'ann')] },
    script: { ann: [{ tools: ['search', 'noop'] }, { tools: ['lookup'] }, 'done'] },
  },
  'agent-tool-failed': {
    cast: { targets: [target('agent', 'ann')] },
    script: { ann: [{ tools: ['search', 'lookup'] }], search: [{ fails: 'ToolRejected' }] },
  },
  'agent-too-many-rounds': {
    cast: { targets: [target('agent', 'ann')], toolRounds: 2 },
    script: { ann: [{ tools: ['noop'] }] },
  },
  'targets-of-every-kind': {
    cast: {
      targets: [target('agent', 'ann'), target('model', 'gpt'), target('tool', 'search'), target('agent', 'bob')],
    },
    script: { bob: [{ fails: 'ModelNotFound' }] },
  },
  'timed-out': {
    cast: { targets: [target('agent', 'ann'), target('agent', 'bob')], timeoutMs: 1500 },
    script: { bob: [{ hangs: true }] },
  },
  ...Object.fromEntries(Object.entries(strategies).flatMap(([strategy, more]) => Object.entries(teamCases(strategy, more)))),
};
