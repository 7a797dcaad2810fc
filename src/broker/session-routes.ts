import { Hono, type Context } from 'hono';
import type { BrokerMetrics } from '../adapters/telemetry/metrics.ts';
import type { Conversations } from './conversations.ts';
import { appendKey, conversationId, fieldsOf, messageText, messageTexts } from './incoming-messages.ts';
import type { WithJson } from './read-body.ts';

export interface MessageServices {
  readonly conversations: Conversations;
  readonly withJson: WithJson;
  readonly metrics: BrokerMetrics;
}

/** The memory of ARK v0.1.31 (contract sections 5.2 and 5.3): `/messages/{uid}`, `/message/{uid}`, `/health`. */
export function sessionRoutes({ conversations, withJson, metrics }: MessageServices): Hono {
  /** Answers for one session: PUT appends what `texts` finds in the body, GET lists. */
  const session = (texts: (fields: Readonly<Record<string, unknown>>) => string[]) => async (c: Context) => {
    const conversation = conversationId(c.req.param('uid'));
    switch (c.req.method) {
      case 'GET':
        return c.body(listOf(await conversations.newest(conversation)), 200, json);
      case 'PUT': {
        const key = appendKey(c.req.raw);
        return withJson(c.req.raw, async (body) => {
          const messages = texts(fieldsOf(body));
          if (messages.length === 0) return c.body(null, 200);
          const { isRepeated } = await conversations.append({ conversation, query: '', messages, key });
          metrics.messages.inc({ outcome: isRepeated ? 'repeated' : 'added' }, messages.length);
          return c.body(null, 200);
        });
      }
      default:
        return c.text('Method not allowed', 405, { allow: 'GET, PUT' });
    }
  };

  return new Hono()
    .all(
      '/messages/:uid',
      session(({ messages }) => messageTexts(messages)),
    )
    .all(
      '/message/:uid',
      session(({ message }) => [messageText(message)]),
    )
    .all('/health', async (c) =>
      (await isUp(conversations)) ? c.text('OK') : c.text('Database unavailable', 503),
    );
}

export const isUp = (conversations: Conversations): Promise<boolean> =>
  conversations.check().then(
    () => true,
    () => false,
  );

const json = { 'content-type': 'application/json' };

/** An unknown session is null, not an empty list: so is Go's empty slice. */
const listOf = (messages: readonly string[]): string =>
  `{"messages":${messages.length === 0 ? 'null' : `[${messages.join(',')}]`}}`;
