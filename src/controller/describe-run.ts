import type { QuestionDefinition, Snapshot, TargetPlan } from '../api/snapshot.ts';
import type { RunOwner } from './ports.ts';
import type { RunMemo } from './run-memo.ts';

const summaryBytesMax = 200;
const inputCharsMax = 80;
const detailsBytesMax = 20_000;
const rowsMax = 50;

/**
 * What a person sees of a run in the Web UI before opening its history. The input is shown as its author wrote it:
 * parameters from Secrets are never rendered here.
 */
export function describeRun(
  query: RunOwner,
  snapshot: Snapshot,
  hash: string,
): { staticSummary: string; staticDetails: string; memo: RunMemo & Record<string, unknown> } {
  const { namespace, name, uid } = query;
  return {
    staticSummary: summaryOf(snapshot),
    staticDetails: detailsOf(query, snapshot, hash),
    memo: {
      query: { apiVersion: 'ark.mckinsey.com/v1alpha1', kind: 'Query', namespace, name, uid },
      snapshot: hash,
    },
  };
}

/** `team/research · What did the last release change?` */
function summaryOf(snapshot: Snapshot): string {
  const [first, ...others] = snapshot.targets;
  const target = first ? nameOf(first) : 'no target';
  const more = others.length > 0 ? ` +${others.length}` : '';
  const input = inputOf(snapshot).replaceAll(/\s+/g, ' ').trim().slice(0, inputCharsMax);
  return clipBytes(`${target}${more} · ${input}`, summaryBytesMax);
}

function detailsOf({ namespace, name }: RunOwner, snapshot: Snapshot, hash: string): string {
  const agents = Object.values(snapshot.agents).map((agent) => `| agent/${agent.name} | ${agent.model} |`);
  const teams = Object.values(snapshot.teams).map(
    (team) =>
      `| team/${team.name} | ${team.strategy}: ${clipBytes(team.members.map((m) => m.name).join(', '), 200)} |`,
  );
  const lines = [
    `**Query** \`${namespace}/${name}\``,
    `**Targets** ${snapshot.targets.slice(0, rowsMax).map(nameOf).join(', ') || 'none'}`,
    `**Each target's deadline** ${snapshot.timeoutMs / 1000} s · **Definitions** ${hash}`,
    '',
    '| who | model, or strategy and members |',
    '| --- | --- |',
    ...[...teams, ...agents].slice(0, rowsMax),
    '',
    `    kubectl -n ${namespace} get query ${name} -o yaml`,
  ];
  return clipBytes(lines.join('\n'), detailsBytesMax);
}

const nameOf = ({ type, name }: TargetPlan): string => `${type}/${name}`;

function inputOf(snapshot: Snapshot): string {
  const { question } = snapshot.definitions[snapshot.question] as QuestionDefinition;
  return 'text' in question ? question.text : question.template;
}

/** Cuts between characters: half of one decodes as U+FFFD, which is dropped. */
function clipBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  return `${bytes
    .subarray(0, bytesMax - '…'.length * 3)
    .toString()
    .replace(/\uFFFD+$/, '')}…`;
}
