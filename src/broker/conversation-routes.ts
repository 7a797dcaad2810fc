import { randomUUID } from 'node:crypto';
import { Hono, type Context } from 'hono';
import type { Conversation, Page, Stored } from './conversations.ts';
import { appendKey, conversationId, fieldsOf, messageTexts } from './incoming-messages.ts';
import { Refusal } from './refusal.ts';
import type { MessageServices } from './session-routes.ts';

const pageDefault = 100;
const pageMax = 1_000;
const offsetMax = 1_000_000_000;
const queryCharactersMax = 255;
/** About ten years. */
const ttlSecondsMax = 315_360_000;

/** The memory of newer ARK (contract section 12): `/conversations`, `/messages`, `/queries/{id}/messages`. */
export function conversationRoutes({ conversations, withJson, metrics }: MessageServices): Hono {
  return new Hono()
    .post('/conversations', async (c) => {
      const id = randomUUID();
      await conversations.create(id);
      return c.json({ conversation_id: id }, 201);
    })
    .get('/conversations', async (c) => {
      const page = pageOf(c);
      const listed = (await conversations.list(page)).map(shownConversation);
      // Clients that would otherwise look whether a lost append had arrived can see that they need not.
      return c.json({ conversations: listed, ...page, idempotent: true });
    })
    .get('/conversations/:id', async (c) => {
      const id = conversationId(c.req.param('id'));
      const found = await conversations.find(id);
      if (!found) throw new Refusal(404, `There is no conversation ${id}`);
      return c.json(shownConversation(found));
    })
    .post('/messages', (c) =>
      withJson(c.req.raw, async (body) => {
        const fields = fieldsOf(body);
        const conversation = conversationId(fields['conversation_id']);
        const messages = messageTexts(fields['messages']);
        const { isRepeated } = await conversations.append({
          conversation,
          query: queryId(fields['query_id'] ?? ''),
          messages,
          ttlMs: ttlMsOf(fields['ttl_seconds']),
          key: appendKey(c.req.raw),
        });
        metrics.messages.inc({ outcome: isRepeated ? 'repeated' : 'added' }, messages.length);
        return c.json({ conversation_id: conversation, messages: isRepeated ? 0 : messages.length });
      }),
    )
    .get('/messages', async (c) => {
      const { conversation_id: conversation, query_id: query } = c.req.query();
      const page = pageOf(c);
      const filter = {
        conversation: conversation === undefined ? undefined : conversationId(conversation),
        query,
      };
      const { records, total } = await conversations.messages(filter, page);
      const facts = `"total":${total},"limit":${page.limit},"offset":${page.offset}`;
      return c.body(`{"messages":[${records.map(shownRecord).join(',')}],${facts}}`, 200, {
        'content-type': 'application/json',
      });
    })
    .delete('/queries/:id/messages', async (c) => {
      const deleted = await conversations.removeQuery(queryId(c.req.param('id')));
      return c.json({ deleted });
    });
}

const shownConversation = ({ id, createdAtMs, updatedAtMs, messages }: Conversation) => ({
  conversation_id: id,
  created_at: new Date(createdAtMs).toISOString(),
  updated_at: new Date(updatedAtMs).toISOString(),
  message_count: messages,
});

/** The message goes out as the text that came in. */
function shownRecord({ sequence, conversation, query, message, createdAtMs }: Stored): string {
  const facts = JSON.stringify({
    timestamp: new Date(createdAtMs).toISOString(),
    conversation_id: conversation,
    query_id: query,
    sequence,
  });
  return `${facts.slice(0, -1)},"message":${message}}`;
}

const pageOf = (c: Context): Page => ({
  limit: wholeNumber(c, 'limit', 1, pageMax, pageDefault),
  offset: wholeNumber(c, 'offset', 0, offsetMax, 0),
});

function wholeNumber(c: Context, name: string, min: number, max: number, otherwise: number): number {
  const text = c.req.query(name);
  if (text === undefined || text === '') return otherwise;
  const number = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw new Refusal(400, `${name} must be a whole number from ${min} to ${max}`);
}

function queryId(value: unknown): string {
  if (typeof value === 'string' && value.length <= queryCharactersMax) return value;
  throw new Refusal(400, `query_id must be a text of at most ${queryCharactersMax} characters`);
}

function ttlMsOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && value > 0 && value <= ttlSecondsMax) return Math.ceil(value * 1_000);
  throw new Refusal(400, `ttl_seconds must be a number above 0 and at most ${ttlSecondsMax}`);
}
