import type { EvaluatorReply } from '../../api/run.ts';
import { fitTexts } from '../fit-texts.ts';
import { scoreOf } from './score.ts';

const prefix = 'evaluation.metadata/';
const rawScore = 'raw-score';
const nameCharactersMax = 63;
/** Kubernetes keeps 256 KiB of annotations on one object, its users' own among them. */
const valueBytesMax = 64 * 1024;

/**
 * What the evaluator said beside its judgement, as annotations (contract section 1.13): every key is made one that
 * Kubernetes takes. A score that status had to change is among them as it was given.
 */
export function annotationsOf({ score, metadata }: EvaluatorReply): Readonly<Record<string, string>> {
  const names = new Set<string>();
  const entries = Object.entries({
    ...metadata,
    ...(score !== '' && score !== scoreOf(score) && { [rawScore]: score }),
  }).map(([key, value]) => [unique(nameOf(key), names), value] as const);
  const values = fitTexts(
    entries.map(([, value]) => value),
    valueBytesMax,
  );
  return Object.fromEntries(entries.map(([name], index) => [prefix + name, values[index] ?? '']));
}

/** Letters, digits, `-`, `_` and `.`, with a letter or digit at both ends. */
const nameOf = (key: string): string =>
  key
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, nameCharactersMax)
    .replace(/[^A-Za-z0-9]+$/, '') || 'unnamed';

function unique(name: string, taken: Set<string>): string {
  let free = name;
  for (let nth = 2; taken.has(free); nth += 1) {
    const suffix = `-${nth}`;
    free = name.slice(0, nameCharactersMax - suffix.length) + suffix;
  }
  taken.add(free);
  return free;
}
