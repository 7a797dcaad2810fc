import { STATUS_CODES } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import { RemoteError } from '../remote-error.ts';
import { retryAfterMs } from '../retry-after.ts';
import { traceHeaders } from '../telemetry/trace-context.ts';
import { shownUrl, type HttpRequest } from './http-request.ts';
import { redirected } from './redirected.ts';

const redirectsMax = 10;
const connectTimeoutMs = 10_000;
const connectionsPerOrigin = 64;
const keepAliveMs = 10_000;
const errorBodyBytesMax = 64 * 1024;

export interface HttpOptions {
  readonly connectTimeoutMs?: number;
}

/** Sends requests over pooled connections, each once: whether to try again is Temporal's to decide. */
export interface Http {
  /**
   * What `read` makes of the answer's body. An aborted request rejects with the signal's reason, every other failure
   * with a RemoteError, whose message is for the caller to put into the contract's words (`inWords`): `404 Not Found`
   * where `isAnswer` refused the status (`kind: 'status'`), else `POST http://host/path: connect ECONNREFUSED`.
   */
  send<R>(request: HttpRequest, read: (body: Body) => Promise<R>, limits: Limits): Promise<R>;
  close(): Promise<void>;
}

export type Body = AsyncIterable<Uint8Array>;

export interface Limits {
  readonly signal: AbortSignal;
  /** For all of it: connecting, redirects and the last byte of the body. */
  readonly timeoutMs: number;
  /** Which statuses are an answer; those below 400 if nothing is said. */
  readonly isAnswer?: (status: number) => boolean;
}

export function createHttp(options: HttpOptions = {}): Http {
  const agent = new Agent({
    connect: { timeout: options.connectTimeoutMs ?? connectTimeoutMs },
    connections: connectionsPerOrigin,
    keepAliveTimeout: keepAliveMs,
  });
  return { send: (request, read, limits) => send(agent, request, read, limits), close: () => agent.close() };
}

/** The same failure in other words; what is no RemoteError passes as it is. */
export function inWords(error: unknown, words: (failure: RemoteError) => string): unknown {
  return error instanceof RemoteError ? new RemoteError(error.kind, words(error), error) : error;
}

async function send<R>(
  agent: Agent,
  request: HttpRequest,
  read: (body: Body) => Promise<R>,
  { signal, timeoutMs, isAnswer = (status) => status < 400 }: Limits,
): Promise<R> {
  const journey = { sent: false };
  const deadline = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    const answer = await follow(agent.compose(noting(journey)), request, {
      signal: AbortSignal.any([signal, deadline]),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    if (!isAnswer(answer.statusCode)) throw await refusal(answer);
    return await read(answer.body);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RemoteError) throw error;
    const problem = deadline.aborted ? `no answer within ${timeoutMs / 1_000} s` : problemOf(error);
    throw new RemoteError(
      deadline.aborted ? 'timeout' : kindOf(error),
      `${shown(request)}: ${problem}`,
      journey,
    );
  }
}

type Settings = Pick<Dispatcher.RequestOptions, 'signal' | 'headersTimeout' | 'bodyTimeout'>;

async function follow(
  dispatcher: Dispatcher,
  request: HttpRequest,
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
      headers: { ...basicAuthentication(url), ...traceHeaders(), ...headers },
      body: body ?? null,
    });
    const next = redirected(current, answer.statusCode, header(answer, 'location'));
    if (!next) return answer;

    await answer.body.dump({ limit: errorBodyBytesMax });
    current = next;
  }
  throw new RemoteError('network', `${shown(request)}: stopped after ${redirectsMax} redirects`, {
    sent: true,
  });
}

/** Notes the moment a request is about to be written: before it, nothing can have reached the far side. */
export const noting =
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
  return new RemoteError('status', `${status} ${reason}`.trim(), {
    sent: true,
    status,
    retryAfterMs: retryAfterMs({ get: (name) => header(answer, name) ?? null }, Date.now()),
  });
}

function header({ headers }: Dispatcher.ResponseData, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Credentials in a URL become a header, as in Go; one the caller sets itself wins. */
function basicAuthentication({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

const shown = ({ method, url }: HttpRequest): string => `${method} ${shownUrl(url)}`;

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
