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

/** What came with the companions of a run: memories, engines, evaluators, streams, and two ways to go on. */
const companionCases: Readonly<Record<string, Case>> = {
  'memory-ok': {
    cast: {
      targets: [target('team', 'trip'), target('tool', 'search'), target('model', 'gpt')],
      teams: [{ type: 'team', name: 'trip', strategy: 'sequential', members: members('ann', 'bob') }],
      isRemembered: true,
    },
    script: { bob: [{ tools: ['lookup'] }, 'done'] },
  },
  'memory-in-time': {
    cast: { targets: [target('tool', 'search'), target('agent', 'ann'), target('model', 'gpt')], isRemembered: true },
  },
  'memory-too-slow': {
    cast: { targets: [target('agent', 'ann'), target('tool', 'search')], isRemembered: true, timeoutMs: 1500 },
    script: { 'memory.read': [{ hangs: true }] },
  },
  'memory-unreadable': {
    cast: { targets: [target('agent', 'ann')], isRemembered: true },
    script: { 'memory.read': [{ fails: 'MemoryRejected' }] },
  },
  'memory-unwritable': {
    cast: { targets: [target('agent', 'ann'), target('agent', 'bob')], isRemembered: true },
    script: { 'memory.write.1': [{ fails: 'MemoryRejected' }] },
  },
  'engine-ok': {
    cast: {
      targets: [target('agent', 'ann'), target('team', 'trip')],
      teams: [{ type: 'team', name: 'trip', strategy: 'sequential', members: members('bob', 'ann', 'cem') }],
      engines: ['ann'],
    },
  },
  'engine-failed': {
    cast: { targets: [target('agent', 'ann')], engines: ['ann'] },
    script: { ann: [{ fails: 'EngineRejected' }] },
  },
  'evaluators-ok': {
    cast: { targets: [target('agent', 'ann')], evaluators: ['first', 'broken', 'last'], isStreamed: true },
    script: { broken: [{ fails: 'EvaluatorRejected' }] },
  },
  'evaluators-canceled': {
    cast: { targets: [target('agent', 'ann')], evaluators: ['first', 'judge'] },
    script: { judge: [{ hangs: true }] },
    meanwhile: (play) => play.whenAsked('judge').then(() => play.handle.cancel()),
  },
  'stream-canceled': {
    cast: { targets: [target('agent', 'ann')], isStreamed: true, isRemembered: true },
    script: { ann: [{ hangs: true }] },
    meanwhile: (play) => play.whenAsked('ann').then(() => play.handle.cancel()),
  },
  'output-repaired': {
    cast: { targets: [target('agent', 'ann')], shaped: ['ann'] },
    script: { ann: [{ tools: ['search'] }, 'bad', { tools: ['noop'] }, 'good'] },
  },
  'output-invalid': {
    cast: { targets: [target('agent', 'ann')], shaped: ['ann'] },
    script: { ann: ['bad', 'bad again'] },
  },
  'tool-forgiven': {
    cast: { targets: [target('agent', 'ann')], forgiven: ['search'] },
    script: { ann: [{ tools: ['search', 'lookup'] }, 'done'], search: [{ fails: 'ToolRejected' }] },
  },
};

export const cases: Readonly<Record<string, Case>> = {
  ...companionCases,
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
