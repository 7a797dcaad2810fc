/** What a failed call to the API server tells: the verb and the object in `message`, the server's own words in `detail`. */
export class KubernetesError extends Error {
  /** HTTP status; absent where no answer came. */
  readonly status?: number;
  /** The server's reason (`NotFound`, `Conflict`, `Expired`, …), or `Unreachable`, `TimedOut`, `Untrusted`, `Unreadable`. */
  readonly reason: string;
  readonly detail: string;
  readonly retryAfterMs?: number;
  /** Whether the same call could succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** Whether the request may have reached the server: then it may also have been carried out. */
  readonly sent: boolean;

  constructor(what: string, facts: KubernetesErrorFacts, options?: ErrorOptions) {
    super(`cannot ${what}: ${facts.detail}`, options);
    this.name = 'KubernetesError';
    this.status = facts.status;
    this.reason = facts.reason;
    this.detail = facts.detail;
    this.retryAfterMs = facts.retryAfterMs;
    this.retryable = facts.retryable;
    this.sent = facts.sent ?? true;
  }
}

export interface KubernetesErrorFacts {
  readonly status?: number;
  readonly reason: string;
  readonly detail: string;
  readonly retryAfterMs?: number;
  readonly retryable: boolean;
  readonly sent?: boolean;
}

/** A `Status` object, as the API server answers where it refuses; all of it optional, because proxies answer too. */
export interface StatusBody {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly retryAfterSeconds?: number };
}

export const isNotFound = (error: unknown): boolean => isReason(error, 'NotFound');

/** For `catch`: undefined where the object is not there; any other error is thrown on. */
export function undefinedIfGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
export const isConflict = (error: unknown): boolean => isReason(error, 'Conflict');
export const isAlreadyExists = (error: unknown): boolean => isReason(error, 'AlreadyExists');

/** The server no longer has the history asked for (a resourceVersion or a page token): list again. */
export const isExpired = (error: unknown): boolean =>
  error instanceof KubernetesError && (error.status === 410 || error.reason === 'Expired');

const isReason = (error: unknown, reason: string): boolean =>
  error instanceof KubernetesError && error.reason === reason;

const detailCharactersMax = 2_000;

/** An answer that is not a success. */
export function refusal(what: string, status: number, text: string, retryAfterMs?: number): KubernetesError {
  const body = parseStatus(text);
  return new KubernetesError(what, {
    status,
    reason: body.reason || (reasons[status] ?? `Http${status}`),
    detail: (body.message || text.trim() || `the API server answered ${status}`).slice(
      0,
      detailCharactersMax,
    ),
    retryAfterMs:
      retryAfterMs ??
      (body.details?.retryAfterSeconds === undefined ? undefined : body.details.retryAfterSeconds * 1_000),
    retryable: status === 429 || status >= 500,
  });
}

/** For answers that bear no reason: those of proxies, and of the server while it starts or stops. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function parseStatus(text: string): StatusBody {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}

/** No answer, or half of one. An abort is not ours to name: it is thrown as the caller gave it. */
export function noAnswer(what: string, error: unknown): KubernetesError {
  const code = codeOf(error);
  const words = error instanceof Error ? error.message || error.name : String(error);
  const detail = code && !words.includes(code) ? `${words} (${code})` : words;
  const options = { cause: error };

  if (code && unsentCodes.has(code)) {
    const facts = { reason: 'Unreachable', detail, retryable: true, sent: false };
    return new KubernetesError(what, facts, options);
  }
  if (code && /CERT|SIGNATURE|SELF_SIGNED|ALTNAME|ERR_SSL|TLS_/.test(code)) {
    const advice = `${detail}; check certificate-authority and server in the kubeconfig`;
    return new KubernetesError(
      what,
      { reason: 'Untrusted', detail: advice, retryable: false, sent: false },
      options,
    );
  }
  const reason = code && timeoutCodes.has(code) ? 'TimedOut' : 'Unreachable';
  return new KubernetesError(what, { reason, detail, retryable: true }, options);
}

const unsentCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const timeoutCodes = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

/** Where both address families were tried, the errors lie inside an AggregateError. */
function codeOf(error: unknown): string | undefined {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown[] };
  if (typeof code === 'string') return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : undefined;
}
