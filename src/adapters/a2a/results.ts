import { RemoteError } from '../remote-error.ts';

/** What came of a message: the agent's words, or a task that is still being worked on. */
export type Progress = { readonly text: string } | { readonly task: string };

/** A task ends in one of these without an answer (A2A 0.3, section 6.3). */
const lostStates: ReadonlySet<unknown> = new Set([
  'failed',
  'canceled',
  'rejected',
  'auth-required',
  'unknown',
]);
/** `input-required` is an end, too: what the agent wants to know is what it says in this turn. */
const endStates: ReadonlySet<unknown> = new Set(['completed', 'input-required']);

/**
 * The meaning of a result of `message/send` or `tasks/get`: text, a Message, or a Task (contract section 4.13 and
 * section 9, row 35). Throws a RemoteError: `refused` where the task failed, `protocol` where there is no text.
 */
export function progressOf(result: unknown): Progress {
  if (typeof result === 'string') return { text: result };
  if (!isRecord(result)) throw unreadable('response result is not a map');
  return isTask(result) ? progressOfTask(result) : { text: textOf(result['parts']) };
}

type Json = Readonly<Record<string, unknown>>;

interface Task extends Json {
  readonly status: Json;
}

/** A Message has no status, whether or not either says its `kind`. */
const isTask = (result: Json): result is Task => isRecord(result['status']) && result['parts'] === undefined;

function progressOfTask({ id, status, artifacts }: Task): Progress {
  const { state, message } = status;
  if (lostStates.has(state)) {
    const why = hasText(message) ? `: ${textOf(message['parts'])}` : '';
    throw new RemoteError('refused', `A2A server ended the task as ${String(state)}${why}`, { sent: true });
  }
  if (endStates.has(state)) return { text: answerOf(artifacts, message) };
  if (typeof id !== 'string' || id === '') throw unreadable('task has no id');
  return { task: id };
}

/** The artifacts are what a task was for; the message of its status is there for what has none. */
function answerOf(artifacts: unknown, message: unknown): string {
  const withText = Array.isArray(artifacts) ? artifacts.filter(hasText) : [];
  if (withText.length === 0) return textOf(isRecord(message) ? message['parts'] : undefined);
  return withText.map(({ parts }) => textOf(parts)).join('\n');
}

/** The text parts without separator. Newer servers tell a part by its field alone. */
function textOf(parts: unknown): string {
  if (!Array.isArray(parts) || parts.length === 0)
    throw unreadable('parts is missing or not a non-empty list');
  const texts = parts.filter(isTextPart).map(({ text }) => text);
  if (texts.length === 0) throw unreadable("no parts with kind 'text' and valid text field found");
  return texts.join('');
}

const isTextPart = (part: unknown): part is { readonly text: string } =>
  isRecord(part) && typeof part['text'] === 'string' && (part['kind'] ?? part['type'] ?? 'text') === 'text';

const hasText = (holder: unknown): holder is Json =>
  isRecord(holder) && Array.isArray(holder['parts']) && holder['parts'].some(isTextPart);

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unreadable = (problem: string) => new RemoteError('protocol', problem, { sent: true });
