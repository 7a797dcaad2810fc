import { Refusal } from './refusal.ts';

export const messageBytesMax = 10 * 1024 * 1024;
const messagesPerAppendMax = 10_000;
const keyCharactersMax = 255;

/** A conversation's id (contract section 5.3). */
export function conversationId(text: unknown): string {
  if (typeof text === 'string' && /^[a-zA-Z0-9_-]{1,255}$/.test(text)) return text;
  throw new Refusal(400, 'Invalid session ID');
}

/** The `Idempotency-Key` of an append, if it has one. */
export function appendKey(request: Request): string | undefined {
  const key = request.headers.get('idempotency-key');
  if (key === null || key === '') return undefined;
  if (key.length > keyCharactersMax)
    throw new Refusal(400, `Idempotency-Key is longer than ${keyCharactersMax} characters`);
  return key;
}

/** Messages as they will be kept. As in Go, a list that is absent or null is an empty one. */
export function messageTexts(messages: unknown): string[] {
  const list = messages ?? [];
  if (!Array.isArray(list)) throw new Refusal(400, 'Invalid JSON');
  if (list.length > messagesPerAppendMax)
    throw new Refusal(413, `One request may hold at most ${messagesPerAppendMax} messages`);
  return list.map(messageText);
}

/** The size is answered as ARK does (contract section 5.3): with 500, and without a word about the size. */
export function messageText(message: unknown): string {
  if (message === undefined) throw new Refusal(400, 'Invalid JSON');
  const text = JSON.stringify(message);
  if (Buffer.byteLength(text) > messageBytesMax) throw new Refusal(500, 'Internal server error');
  return text;
}

/** The fields of a JSON object; anything else is no request. */
export function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Readonly<Record<string, unknown>>;
  throw new Refusal(400, 'Invalid JSON');
}
