import { createHash } from 'node:crypto';
import type { BedrockRuntimeClient, BedrockRuntimeClientConfig } from '@aws-sdk/client-bedrock-runtime';
import { LRUCache } from 'lru-cache';
import { Agent, type Dispatcher } from 'undici';
import type { BedrockEndpoint, CallOptions, ChatRequest } from '../../activities/ports.ts';
import type { ModelReply } from '../../api/run.ts';
import { traceHeaders } from '../telemetry/trace-context.ts';
import { bedrockBody } from './bedrock-body.ts';
import { toBedrockError } from './bedrock-error.ts';
import { bedrockReply } from './bedrock-reply.ts';
import { codeOf } from './model-error.ts';

const clientsMax = 64;
const replyBytesMax = 16 * 1024 * 1024;
const connectionsPerOriginMax = 256;
const connectTimeoutMs = 10_000;

export interface Bedrock {
  complete(
    request: ChatRequest<BedrockEndpoint>,
    options: CallOptions & { readonly timeoutMs: number },
  ): Promise<ModelReply>;
}

/**
 * Anthropic's models on AWS Bedrock, by InvokeModel (contract section 4.5). Never streams and never retries: one call
 * is one request. Without a key of its own a Model is asked with what AWS's default chain finds around the worker.
 */
export function createBedrock(): Bedrock {
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connections: connectionsPerOriginMax,
    connect: { timeout: connectTimeoutMs },
    maxResponseSize: replyBytesMax,
  });
  const clients = new LRUCache<string, BedrockRuntimeClient>({ max: clientsMax });

  async function clientFor(endpoint: BedrockEndpoint): Promise<BedrockRuntimeClient> {
    const settings = settingsOf(endpoint);
    const name = createHash('sha256').update(JSON.stringify(settings)).digest('base64');
    const known = clients.get(name);
    if (known) return known;

    // Loaded where somebody has such a Model only: it takes longer than the rest of the worker.
    const { BedrockRuntimeClient: Client } = await import('@aws-sdk/client-bedrock-runtime');
    const client = new Client({ ...settings, maxAttempts: 1, requestHandler: overHttp1(agent) });
    clients.set(name, client);
    return client;
  }

  return {
    async complete(request, { signal, timeoutMs }) {
      const { endpoint } = request;
      const modelId = endpoint.modelArn || endpoint.model;
      const tried = `InvokeModel ${modelId}`;
      const deadline = AbortSignal.timeout(timeoutMs);
      try {
        const { InvokeModelCommand } = await import('@aws-sdk/client-bedrock-runtime');
        const client = await clientFor(endpoint);
        const { body } = await client.send(
          new InvokeModelCommand({
            modelId,
            contentType: 'application/json',
            accept: 'application/json',
            body: JSON.stringify(bedrockBody(request)),
          }),
          { abortSignal: AbortSignal.any([signal, deadline]) },
        );
        return bedrockReply(body, tried);
      } catch (error) {
        signal.throwIfAborted();
        throw toBedrockError(error, { tried, timeoutMs, timedOut: deadline.aborted });
      }
    },
  };
}

/** A key counts only with its secret. */
function settingsOf({ region, accessKeyId, secretAccessKey, sessionToken }: BedrockEndpoint) {
  return {
    ...(region && { region }),
    ...(accessKeyId &&
      secretAccessKey && {
        credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
      }),
  };
}

/** What the library asks of a way to send requests, as far as it uses it here. */
interface AwsRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** The library's own speaks HTTP/2, and a proxy that does not ends the process. */
function overHttp1(agent: Agent): NonNullable<BedrockRuntimeClientConfig['requestHandler']> {
  const handler = {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request: AwsRequest, { abortSignal }: { readonly abortSignal?: AbortSignal } = {}) {
      const { protocol, hostname, port, path, method, headers, body } = request;
      const answer = await agent
        .request({
          origin: `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`,
          path,
          method,
          // Not signed, so that whoever stands between may change it.
          headers: { ...headers, ...traceHeaders() },
          body: body ?? null,
          signal: abortSignal ?? null,
        })
        .catch((error: unknown) => {
          // The library makes a text of what it does not take for an error.
          throw Object.assign(new Error('the request failed', { cause: error }), { code: codeOf(error) });
        });
      const { statusCode, headers: said } = answer;
      return { response: { statusCode, headers: singled(said), body: answer.body } };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    destroy: () => undefined,
  };
  return handler;
}

const singled = (headers: Dispatcher.ResponseData['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));
