import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import OpenAI, { APIConnectionError, type ClientOptions } from 'openai';
import { Stream } from 'openai/streaming';
import { Agent, fetch, type RequestInit } from 'undici';
import type { CallOptions, ChatRequest, OpenAiEndpoint } from '../../activities/ports.ts';
import type { ModelReply } from '../../api/run.ts';
import { traceHeaders } from '../telemetry/trace-context.ts';
import { chatBody } from './chat-body.ts';
import { replyOf } from './chat-reply.ts';
import { assemble, refusesStreamOptions } from './chat-stream.ts';
import { ModelError, toModelError } from './model-error.ts';

const clientsMax = 256;
const replyBytesMax = 16 * 1024 * 1024;
/** Every piece of a stream comes in an envelope of a few hundred bytes. */
const streamBytesMax = 512 * 1024 * 1024;
const connectionsPerOriginMax = 1_024;
const connectTimeoutMs = 10_000;
const libraryTimeoutExtraMs = 10_000;
const ownHeaders = { 'User-Agent': 'arkwright' };

export interface OpenAiChat {
  complete(
    request: ChatRequest<OpenAiEndpoint>,
    options: CallOptions & { readonly timeoutMs: number },
  ): Promise<ModelReply | undefined>;
}

/**
 * Chat completions of OpenAI, of Azure and of every server that speaks as they do (contract section 4.5), streamed for
 * whoever wants the chunks. Never retries: one call is one request that a provider may have begun to answer.
 */
export function createOpenAiChat(): OpenAiChat {
  // How long an answer may take is the caller's to say: a model may think for longer than fetch's own five minutes.
  const agentFor = (bytesMax: number) =>
    new Agent({
      headersTimeout: 0,
      bodyTimeout: 0,
      connections: connectionsPerOriginMax,
      connect: { timeout: connectTimeoutMs },
      maxResponseSize: bytesMax,
    });
  const dispatcher = agentFor(replyBytesMax);
  const streams = { dispatcher: agentFor(streamBytesMax) } as ClientOptions['fetchOptions'];
  // The library passes a string; the two sides' types of a `Request`, which is never passed, differ.
  const send: Send = (url, init) => fetch(url as string, { dispatcher, ...(init as RequestInit) });
  const clients = new LRUCache<string, OpenAI>({ max: clientsMax });

  function clientFor(endpoint: OpenAiEndpoint): OpenAI {
    const { type, baseUrl, apiKey, apiVersion, model } = endpoint;
    const name = createHash('sha256')
      .update(JSON.stringify([type, baseUrl, apiKey, apiVersion, model]))
      .digest('base64');
    const client = clients.get(name) ?? createClient(endpoint, send);
    clients.set(name, client);
    return client;
  }

  return {
    async complete(request, { signal, idempotencyKey, timeoutMs }) {
      const client = clientFor(request.endpoint);
      const url = `${client.baseURL}/chat/completions`;
      const deadline = AbortSignal.timeout(timeoutMs);
      const options = {
        signal: AbortSignal.any([signal, deadline]),
        // Ours comes first: the library's tells a slow server from a slow connection by the wording of an error.
        timeout: timeoutMs + libraryTimeoutExtraMs,
        headers: { 'Idempotency-Key': idempotencyKey, ...traceHeaders() },
      };
      const body = chatBody(request);
      try {
        const completion = request.onChunk
          ? await streamed(client, body, request.onChunk, { ...options, fetchOptions: streams })
          : await client.chat.completions.create(body, options);
        return replyOf(completion, url);
      } catch (error) {
        throw toModelError(error, { url, timeoutMs, timedOut: deadline.aborted });
      }
    },
  };
}

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming;
type Options = OpenAI.RequestOptions & { readonly signal: AbortSignal };

/** The completion, whose chunks were handed on. Where a provider does not stream after all, there are none. */
async function streamed(
  client: OpenAI,
  body: Body,
  onChunk: (chunk: object) => void,
  options: Options,
): Promise<unknown> {
  const ask = (wishes: object) =>
    client.chat.completions.create({ ...body, stream: true, ...wishes }, options).asResponse();
  const response = await ask({ stream_options: { include_usage: true } }).catch((error: unknown) => {
    if (refusesStreamOptions(error)) return ask({});
    throw error;
  });
  if (response.headers.get('content-type')?.includes('application/json')) return response.json();

  const { completion, isWhole } = await assemble(
    Stream.fromSSEResponse(response, new AbortController(), client),
    onChunk,
  );
  // The library ends an aborted stream without an error.
  options.signal.throwIfAborted();
  if (!isWhole) throw new APIConnectionError({ message: 'the stream was cut' });
  return completion;
}

/** Anything but a tab and printable Latin-1 (RFC 9110, 5.5). */
const unsendable = /[^\t\u0020-\u007e\u0080-\u00ff]/;

type Send = NonNullable<ClientOptions['fetch']>;

/** Nothing of the process's environment leaks into a request: a Model says all there is to say. */
function createClient(endpoint: OpenAiEndpoint, send: Send): OpenAI {
  const { type, apiKey, apiVersion = '', model } = endpoint;
  const base = baseOf(endpoint);
  if (unsendable.test(apiKey.trim())) {
    throw new ModelError(
      'ValueInvalid',
      `model ${endpoint.namespace}/${endpoint.name}: apiKey holds characters that no HTTP header can; correct its Secret`,
    );
  }
  const settings = {
    apiKey: apiKey || 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: 'off',
    fetch: send,
  } as const;

  if (type === 'openai') {
    return new ChatClient({
      ...settings,
      baseURL: base,
      // Local servers often have no key at all.
      defaultHeaders: { ...ownHeaders, ...(apiKey === '' && { Authorization: null }) },
    });
  }
  // `AzureOpenAI` sends one of the two credentials and refuses an empty version; ARK sends both headers, and any.
  return new ChatClient({
    ...settings,
    baseURL: `${base}/openai/deployments/${encodeURIComponent(model)}`,
    defaultQuery: { 'api-version': apiVersion },
    defaultHeaders: { ...ownHeaders, 'api-key': apiKey },
    // fetch takes `Authorization` off a request that is redirected to another host, but not this header.
    fetchOptions: { redirect: 'manual' },
  });
}

class ChatClient extends OpenAI {
  /** Gateways refuse with objects of their own, without `error`; the library would drop the reason they give. */
  protected override makeStatusError(
    status: number,
    body: object | undefined,
    message: string | undefined,
    headers: Headers,
  ) {
    const reason = typeof body === 'object' && !('error' in body) ? { error: body } : body;
    return super.makeStatusError(status, reason as object, message, headers);
  }
}

/** Without credentials (fetch refuses them in a URL), query and closing slashes: what paths can be added to. */
function baseOf({ namespace, name, baseUrl }: OpenAiEndpoint): string {
  const url = URL.parse(baseUrl.trim());
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ModelError(
      'ValueInvalid',
      `model ${namespace}/${name}: baseUrl is not an http or https URL; correct it in the Model`,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
