import type { EvaluatorReply } from '../../api/run.ts';
import { RemoteError } from '../remote-error.ts';

const scoreCharactersMax = 256;
const metadataEntriesMax = 64;
const metadataKeyCharactersMax = 128;
const metadataValueCharactersMax = 4_096;

/**
 * What an evaluator answered (contract section 7.1): the score as text, the metadata as texts, both within bounds and
 * cut with `…`. Throws a RemoteError: `refused` where the evaluator says that it failed.
 */
export function evaluatorReply(answer: unknown): EvaluatorReply {
  if (!isRecord(answer)) throw unreadable('the answer is not an object');
  const { error, score, passed, metadata, tokenUsage } = answer;
  if (typeof error === 'string' && error !== '')
    throw new RemoteError('refused', `evaluator returned error: ${error}`, { sent: true });
  return {
    score: scoreOf(score),
    passed: passed === true,
    metadata: isRecord(metadata) ? textsOf(metadata) : {},
    ...(isRecord(tokenUsage) && {
      usage: {
        promptTokens: count(tokenUsage['promptTokens']),
        completionTokens: count(tokenUsage['completionTokens']),
        totalTokens: count(tokenUsage['totalTokens']),
      },
    }),
  };
}

/** Evaluators are written in languages where 0.9 and "0.9" are the same thing. */
function scoreOf(score: unknown): string {
  if (score === undefined || score === null) return '';
  if (typeof score === 'string' || typeof score === 'number') return cut(String(score), scoreCharactersMax);
  throw unreadable('score is neither a text nor a number');
}

const textsOf = (metadata: Json): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(metadata)
      .slice(0, metadataEntriesMax)
      .map(([key, value]) => [
        cut(key, metadataKeyCharactersMax),
        cut(typeof value === 'string' ? value : JSON.stringify(value), metadataValueCharactersMax),
      ]),
  );

const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);

type Json = Readonly<Record<string, unknown>>;

const count = (value: unknown): number => (Number.isSafeInteger(value) ? Math.max(value as number, 0) : 0);

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unreadable = (problem: string) =>
  new RemoteError('protocol', `failed to decode evaluation response: ${problem}`, { sent: true });
