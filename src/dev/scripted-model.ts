import { createHash } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import type { IncomingHttpHeaders } from 'node:http';
import type { ChatBody, ScriptedReply } from './chat-wire.ts';
import { eventsOf, type Completion } from './chat-chunks.ts';
import { plausibleReply } from './plausible-reply.ts';
import {
  startJournaledServer,
  type JournaledReply,
  type JournaledRequest,
  type JournaledServer,
} from './journaled-server.ts';

const charactersPerToken = 4;
/** A streamed answer takes as long to begin as to say so many words of it. */
const wordsPerDelay = 10;

export interface ScriptedRequest {
  readonly body: ChatBody;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  /** Its `Idempotency-Key`. */
  readonly key: string;
  /** Aborts when the caller hangs up before it has the whole answer. */
  readonly signal: AbortSignal;
}

/** An answer of the server rather than of the model; a body that is no string is sent as JSON. */
export interface RawReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What the `n`th request, counted from 1, is answered. */
export type Script = (request: ScriptedRequest, n: number) => ScriptedAnswer | Promise<ScriptedAnswer>;
export type ScriptedAnswer = ScriptedReply | RawReply | 'cut' | 'hang';

export interface ScriptedModelOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** How long the model thinks about each answer, and about ten words of one that it streams; default 0. */
  readonly delayMs?: number;
  /** Default: a plausible answer to any request. */
  readonly script?: Script;
}

export interface ScriptedModel extends JournaledServer {
  /** For a Model's `baseUrl`, OpenAI or Azure. */
  readonly baseUrl: string;
}

/**
 * A model that needs no key: an OpenAI-compatible server on loopback that answers chat completions, whole or word by
 * word, also under Azure's paths, and lists itself under `/v1/models`. It plays the model in demos, samples and tests.
 */
export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const { delayMs = 0, script = ({ body }) => plausibleReply(body) } = options;
  let completions = 0;

  async function complete({
    body: text,
    headers,
    path,
    key,
    signal,
  }: JournaledRequest): Promise<JournaledReply> {
    const body = JSON.parse(text) as ChatBody;
    if (!Array.isArray(body.messages)) return refusal(400, "missing required parameter: 'messages'");
    const answer = await script({ body, headers, path, key, signal }, ++completions);
    if (delayMs > 0) await after(delayMs, undefined, { ref: false });
    if (answer === 'cut' || answer === 'hang') return answer;
    if (!('status' in answer)) {
      const completion = completionOf(body, text, answer);
      return body['stream'] === true
        ? {
            headers: { 'content-type': 'text/event-stream' },
            body: paced(eventsOf(completion, body), delayMs / wordsPerDelay),
          }
        : { body: JSON.stringify(completion) };
    }

    const { status, headers: more, body: raw = '' } = answer;
    return { status, headers: more, body: typeof raw === 'string' ? raw : JSON.stringify(raw) };
  }

  const server = await startJournaledServer((request) => {
    const path = new URL(request.path, 'http://localhost').pathname;
    if (request.method === 'POST' && path.endsWith('/chat/completions')) return complete(request);
    if (request.method === 'GET' && path.endsWith('/models')) return { body: modelList };
    return refusal(404, `the scripted model has no ${request.method} ${path}`);
  }, options);

  return { ...server, baseUrl: `${server.url}/v1` };
}

function completionOf(body: ChatBody, text: string, reply: ScriptedReply): Completion {
  const { content = '', refusal: refused, toolCalls = [] } = reply;
  const seed = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const calls = toolCalls.map(({ id, name, arguments: given = {} }, index) => ({
    id: id ?? `call_${seed}_${index}`,
    type: 'function',
    function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
  }));
  const prompt = reply.usage?.promptTokens ?? tokensIn(JSON.stringify(body.messages));
  const completion = reply.usage?.completionTokens ?? tokensIn(content + JSON.stringify(calls));

  return {
    id: `chatcmpl-${seed}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1_000),
    model: body.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' && calls.length > 0 ? null : content,
          ...(refused !== undefined && { refusal: refused }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  };
}

async function* paced(events: readonly string[], pauseMs: number): AsyncGenerator<string, void> {
  for (const event of events) {
    if (pauseMs > 0) await after(pauseMs, undefined, { ref: false });
    yield event;
  }
}

const tokensIn = (text: string): number => Math.max(1, Math.ceil(text.length / charactersPerToken));

const refusal = (status: number, message: string): JournaledReply => ({
  status,
  body: JSON.stringify({ error: { message, type: 'invalid_request_error', code: null, param: null } }),
});

const modelList = JSON.stringify({
  object: 'list',
  data: [{ id: 'scripted', object: 'model', created: 0, owned_by: 'arkwright' }],
});
