import { STATUS_CODES } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import type { HttpToolPort } from '../../activities/ports.ts';
import { retryAfterMs } from '../retry-after.ts';
import { RemoteError } from '../remote-error.ts';
import { httpToolRequest, type ToolRequest } from './http-tool-request.ts';
import { redirected } from './redirected.ts';
import { readCapped } from './read-capped.ts';

const redirectsMax = 10;
const connectTimeoutMs = 10_000;
const connectionsPerOrigin = 64;
const keepAliveMs = 10_000;
const errorBodyBytesMax = 64 * 1024;

export interface HttpToolOptions {
  readonly connectTimeoutMs?: number;
}

/**
 * Uses HTTP tools over pooled connections, once per call: whether to try again is Temporal's to decide. An aborted call
 * rejects with the signal's reason, every other failure with a RemoteError.
 */
export function createHttpTools(options: HttpToolOptions = {}): HttpToolPort & { close(): Promise<void> } {
  const agent = new Agent({
    connect: { timeout: options.connectTimeoutMs ?? connectTimeoutMs },
    connections: connectionsPerOrigin,
    keepAliveTimeout: keepAliveMs,
  });
  return {
    async call(tool, args, { signal, idempotencyKey }) {
      const request = httpToolRequest(tool, args, idempotencyKey);
      return { content: await fetchText(agent, request, { signal, timeoutMs: tool.timeoutMs }) };
    },
    close: () => agent.close(),
  };
}

interface Limits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

async function fetchText(agent: Agent, request: ToolRequest, { signal, timeoutMs }: Limits): Promise<string> {
  const journey = { sent: false };
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await follow(agent.compose(noting(journey)), request, {
      signal: AbortSignal.any([signal, deadline]),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    if (answer.statusCode >= 400) throw await refusal(answer);
    return await readCapped(answer.body);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RemoteError) throw error;
    const problem = deadline.aborted ? `no answer within ${timeoutMs / 1_000} s` : problemOf(error);
    throw new RemoteError(
      deadline.aborted ? 'timeout' : kindOf(error),
      `failed to fetch URL: ${request.method} ${shown(request.url)}: ${problem}`,
      journey,
    );
  }
}

type Settings = Pick<Dispatcher.RequestOptions, 'signal' | 'headersTimeout' | 'bodyTimeout'>;

async function follow(
  dispatcher: Dispatcher,
  request: ToolRequest,
  settings: Settings,
): Promise<Dispatcher.ResponseData> {
  let current = request;
  for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
    const { url, method, headers, body } = current;
    const answer = await dispatcher.request({
      ...settings,
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: { ...basicAuthentication(url), ...headers },
      body: body ?? null,
    });
    const next = redirected(current, answer.statusCode, header(answer, 'location'));
    if (!next) return answer;

    await answer.body.dump({ limit: errorBodyBytesMax });
    current = next;
  }
  throw new RemoteError(
    'network',
    `failed to fetch URL: ${request.method} ${shown(request.url)}: stopped after ${redirectsMax} redirects`,
    { sent: true },
  );
}

/** Notes the moment a request is about to be written: before it, nothing can have reached the tool. */
const noting =
  (journey: { sent: boolean }): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, {
      onRequestStart(...facts) {
        journey.sent = true;
        handler.onRequestStart?.(...facts);
      },
      onRequestUpgrade: (...facts) => handler.onRequestUpgrade?.(...facts),
      onResponseStart: (...facts) => handler.onResponseStart?.(...facts),
      onResponseData: (...facts) => handler.onResponseData?.(...facts),
      onResponseEnd: (...facts) => handler.onResponseEnd?.(...facts),
      onResponseError: (...facts) => handler.onResponseError?.(...facts),
    });

async function refusal(answer: Dispatcher.ResponseData): Promise<RemoteError> {
  const { statusCode: status, statusText } = answer;
  await answer.body.dump({ limit: errorBodyBytesMax });
  const reason = statusText || (STATUS_CODES[status] ?? '');
  return new RemoteError('status', `HTTP error ${status}: ${`${status} ${reason}`.trim()}`, {
    sent: true,
    status,
    retryAfterMs: retryAfterMs({ get: (name) => header(answer, name) ?? null }, Date.now()),
  });
}

function header({ headers }: Dispatcher.ResponseData, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Credentials in a URL become a header, as in Go; one the tool sets itself wins. */
function basicAuthentication({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/** A URL as errors may name it: no credentials, no query values. */
const shown = (url: URL) => url.origin + url.pathname;

/** A header that cannot be sent (say, a Secret that ends in a newline) stays so; the network may recover. */
function kindOf(error: unknown): RemoteError['kind'] {
  const code = codeOf(error);
  if (code === 'UND_ERR_INVALID_ARG') return 'template';
  return /TIMEOUT|TIMEDOUT/.test(code) ? 'timeout' : 'network';
}

/** Only what the network said; a header's value is never part of it. */
function problemOf(error: unknown): string {
  const { message, errors, code = '' } = error as NetworkError;
  // A host with several addresses fails once for each.
  const said = errors?.[0]?.message ?? message ?? String(error);
  return said.includes(code) ? said : `${said} (${code})`;
}

const codeOf = (error: unknown) => (error as NetworkError).code ?? '';

/** The facts of an error of Node's network or of undici. */
interface NetworkError {
  readonly message?: string;
  readonly code?: string;
  readonly errors?: readonly { readonly message: string }[];
}
