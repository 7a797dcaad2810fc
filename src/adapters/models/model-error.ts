import { STATUS_CODES } from 'node:http';
import { APIConnectionError, APIError, APIUserAbortError } from 'openai';
import type { KnownError } from '../../activities/ports.ts';
import type { FailureType } from '../../api/failures.ts';
import { retryAfterMs } from '../retry-after.ts';

const causesMax = 5;

/** Why a model gave no answer, under one of our names. The message may quote what the provider said. */
export class ModelError extends Error implements KnownError {
  readonly type: FailureType;
  readonly status?: number;
  readonly code?: string;
  readonly requestId?: string;
  readonly retryAfterMs?: number;

  constructor(type: FailureType, message: string, facts: Omit<KnownError, keyof Error | 'type'> = {}) {
    super(message);
    this.name = 'ModelError';
    this.type = type;
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** What an error of the `openai` library means; one that is none of its own is returned as it is. */
export function toModelError(error: unknown, call: Call): unknown {
  if (error instanceof ModelError) return error;

  const tried = `POST "${call.url}"`;
  if (error instanceof APIError && error.status !== undefined) return refused(error, tried);
  if (call.timedOut)
    return new ModelError(
      'ModelTimeout',
      `${tried}: no answer within ${Math.round(call.timeoutMs / 100) / 10} s`,
    );
  if (error instanceof SyntaxError)
    return new ModelError('ModelReplyInvalid', `${tried}: the answer is not JSON`);

  const code = codeOf(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new ModelError('PayloadTooLarge', `${tried}: the answer is larger than 16 MiB`, { code });
  if (error instanceof APIConnectionError || code !== undefined) {
    const why = code ?? 'no reason given';
    return new ModelError('ModelUnreachable', `${tried}: the connection failed (${why})`, { code });
  }
  if (error instanceof APIError && !(error instanceof APIUserAbortError)) {
    // What a provider says in the midst of a stream has no status.
    const why = JSON.stringify(error.error) ?? error.message;
    return new ModelError('ModelUnavailable', `${tried}: the provider broke off: ${why}`, {
      code: error.code ?? error.type,
    });
  }
  return error;
}

interface Call {
  readonly url: string;
  readonly timeoutMs: number;
  readonly timedOut: boolean;
}

/** In the form ARK's users know: `POST "<url>": 401 Unauthorized {…}` (contract section 4.5). */
function refused(error: APIError, tried: string): ModelError {
  const status = error.status as number;
  const reason = error.error === undefined ? textOf(error, status) : JSON.stringify(error.error);
  return new ModelError(
    typeOf(error, status),
    `${tried}: ${[status, STATUS_CODES[status], reason].filter(Boolean).join(' ')}`,
    {
      status,
      code: error.code ?? error.type,
      requestId: error.requestID ?? undefined,
      retryAfterMs: error.headers && retryAfterMs(error.headers, Date.now()),
    },
  );
}

/** `x-should-retry` is the provider's own verdict, and it knows more than the status says. */
function typeOf(error: APIError, status: number): FailureType {
  const type = typeOfStatus(error, status);
  const verdict = error.headers?.get('x-should-retry');
  if (verdict === 'true' && status !== 429) return 'ModelUnavailable';
  if (verdict === 'false' && type === 'ModelRateLimited') return 'ModelQuotaExceeded';
  if (verdict === 'false' && type === 'ModelUnavailable') return 'ModelBadRequest';
  return type;
}

function typeOfStatus(error: APIError, status: number): FailureType {
  if (isOneOf(error, 'insufficient_quota')) return 'ModelQuotaExceeded';
  if (isOneOf(error, 'context_length_exceeded')) return 'ModelContextLength';

  switch (status) {
    case 401:
    case 403:
      return 'ModelUnauthorized';
    case 402:
      return 'ModelQuotaExceeded';
    case 404:
      return 'ModelNotFound';
    case 408:
    case 409:
      return 'ModelUnavailable';
    case 429:
      return 'ModelRateLimited';
    default:
      return status >= 500 ? 'ModelUnavailable' : 'ModelBadRequest';
  }
}

const isOneOf = ({ code, type }: APIError, name: string): boolean => code === name || type === name;

/** A refusal that is not JSON: the library has put its text behind the status. */
const textOf = ({ message }: APIError, status: number): string =>
  message.replace(String(status), '').replaceAll(/\s+/g, ' ').trim();

/** The system's or undici's code: the innermost says most. Messages are left out, for they may quote a URL. */
export function codeOf(error: unknown): string | undefined {
  let code: string | undefined;
  for (let at = error, depth = 0; isObject(at) && depth < causesMax; at = at['cause'], depth++) {
    if (typeof at['code'] === 'string') code = at['code'];
  }
  return code;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
