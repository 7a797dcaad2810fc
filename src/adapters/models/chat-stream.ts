import { APIError } from 'openai';

const charactersMax = 16 * 1024 * 1024;

type Wire = Readonly<Record<string, unknown>>;

interface Call {
  id?: string;
  function: { name: string; arguments: string };
}

export interface Streamed {
  /** The completion that the same answer is without streaming; without usage where the provider sent none. */
  readonly completion: object;
  /** Whether the answer came to its end: a stream that is cut may look like one that is over. */
  readonly isWhole: boolean;
}

/**
 * Hands on every chunk of a streamed chat completion as it comes, and puts the completion together. Of several choices
 * the first counts; a call of a tool comes in parts that bear its index.
 */
export async function assemble(
  chunks: AsyncIterable<unknown>,
  onChunk: (chunk: object) => void,
): Promise<Streamed> {
  const calls: Call[] = [];
  const texts = { content: undefined as string | undefined, refusal: undefined as string | undefined };
  let usage: unknown;
  let finish: unknown;
  let hasChoice = false;
  let characters = 0;

  for await (const chunk of chunks) {
    if (!isObject(chunk)) continue;
    onChunk(chunk);
    usage = chunk['usage'] ?? usage;

    const choice = firstOf(chunk['choices']);
    if (!choice) continue;
    hasChoice = true;
    finish = choice['finish_reason'] ?? finish;
    // A provider that does not really stream may send the whole message at once.
    const delta = [choice['delta'], choice['message']].find(isObject) ?? {};
    for (const field of ['content', 'refusal'] as const) {
      const part = delta[field];
      if (typeof part === 'string') texts[field] = (texts[field] ?? '') + part;
    }
    for (const part of listOf(delta['tool_calls'])) addTo(calls, part);

    characters += lengthOf(delta);
    if (characters > charactersMax) throw tooLarge();
  }

  const message = { role: 'assistant', ...texts, tool_calls: calls.filter(Boolean) };
  return {
    completion: { choices: hasChoice ? [{ message, finish_reason: finish }] : [], usage },
    isWhole: !hasChoice || (finish !== undefined && finish !== null),
  };
}

/** Some providers leave the index out: then an id begins a new call, and what has none belongs to the last. */
function addTo(calls: Call[], part: Wire): void {
  const { index, id, function: wished } = part;
  const hasId = typeof id === 'string' && id !== '';
  const known = hasId ? calls.findIndex((call) => call?.id === id) : calls.length - 1;
  const place = typeof index === 'number' ? index : known >= 0 ? known : calls.length;
  if (place > calls.length + 64) return;

  const call = (calls[place] ??= { function: { name: '', arguments: '' } });
  if (hasId) call.id ??= id;
  if (!isObject(wished)) return;
  if (typeof wished['name'] === 'string') call.function.name ||= wished['name'];
  if (typeof wished['arguments'] === 'string') call.function.arguments += wished['arguments'];
}

function firstOf(choices: unknown): Wire | undefined {
  return listOf(choices).find(({ index = 0 }) => index === 0);
}

const listOf = (value: unknown): readonly Wire[] => (Array.isArray(value) ? value.filter(isObject) : []);

const lengthOf = (delta: Wire): number =>
  (typeof delta['content'] === 'string' ? delta['content'].length : 0) +
  listOf(delta['tool_calls']).reduce((sum, { function: wished }) => {
    const text = isObject(wished) ? wished['arguments'] : undefined;
    return sum + (typeof text === 'string' ? text.length : 0);
  }, 0);

/** A provider that knows streams, but not this wish for them. */
export const refusesStreamOptions = (error: unknown): boolean =>
  error instanceof APIError &&
  (error.status === 400 || error.status === 422) &&
  /stream_options|include_usage/.test(`${error.message} ${JSON.stringify(error.error)}`);

const tooLarge = (): Error =>
  Object.assign(new Error('the answer is too large'), { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' });

const isObject = (value: unknown): value is Wire => typeof value === 'object' && value !== null;
