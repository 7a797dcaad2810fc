/** The words of a Query's Events (contract section 6.1), which ARK's own command line reads. */
import { formatDuration } from './durations.ts';
import type { RunEvent } from './run-event.ts';

/** A core/v1 Event may be longer, but it is one of many, and read by people. */
const errorCharactersMax = 2_000;

/** One line of JSON: the name, the facts flat beside it, keys in alphabetical order, numbers only for tokens. */
export function eventMessage({
  name,
  facts,
  tokens,
  durationMs,
  error,
}: Omit<RunEvent, 'query' | 'reason'>): string {
  const payload: Record<string, unknown> = {
    ...facts,
    name,
    ...(durationMs !== undefined && { duration: formatDuration(durationMs) }),
    ...(error && { error: error.slice(0, errorCharactersMax) }),
    ...(tokens && {
      token_usage: {
        completion_tokens: tokens.completionTokens,
        prompt_tokens: tokens.promptTokens,
        total_tokens: tokens.totalTokens,
      },
    }),
  };
  const keys = Object.keys(payload).toSorted();
  return JSON.stringify(Object.fromEntries(keys.map((key) => [key, payload[key]])));
}

/** ARK's Events are all Normal; an error warns here, under the same reason. */
export const eventType = (reason: string): 'Normal' | 'Warning' =>
  reason.endsWith('Error') ? 'Warning' : 'Normal';

export const queryEventComponent = 'query-controller';
