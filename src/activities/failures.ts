import { ApplicationFailure } from '@temporalio/activity';
import { conceal } from '../api/conceal.ts';
import { failures, type FailureType } from '../api/failures.ts';
import type { RemoteError, KnownError, SecretError } from './ports.ts';

const messageCharactersMax = 300;
/** The server's timer queue looks a second ahead: a shorter wait takes as long. */
const retryDelayMinMs = 1_000;
const stackLinesMax = 6;

/** Something that went wrong in a call, under one of our names. */
export class CallFailure extends Error implements KnownError {
  readonly type: FailureType;
  readonly status?: number;
  readonly code?: string;
  readonly requestId?: string;
  readonly retryAfterMs?: number;

  constructor(type: FailureType, message: string, facts: Facts = {}) {
    super(message);
    this.name = 'CallFailure';
    this.type = type;
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

type Facts = Partial<Pick<KnownError, 'status' | 'code' | 'requestId' | 'retryAfterMs'>>;

/**
 * The one form in which an error leaves an activity: an ApplicationFailure with our name as its type, which says
 * itself whether repeating could help and when. It goes into the history and into status for everyone to read, so it
 * is small (no cause, at most 300 characters) and holds none of `secrets`, however the far side quoted them.
 */
export function toFailure(error: unknown, secrets: Iterable<string>): ApplicationFailure {
  const { type, message, status, code, requestId, retryAfterMs } = isKnown(error) ? error : unforeseen(error);
  const { retryable } = failures[type];
  const said = {
    status,
    code: code && short(conceal(code, secrets)),
    requestId: requestId && short(requestId),
  };

  const failure = ApplicationFailure.create({
    type,
    message: cut(conceal(message, secrets)),
    nonRetryable: !retryable,
    ...(Object.values(said).some((fact) => fact !== undefined) && { details: [said] }),
    ...(retryable &&
      retryAfterMs !== undefined && { nextRetryDelay: Math.max(retryAfterMs, retryDelayMinMs) }),
  });
  // Where a provider's refusal passed through our code tells nobody anything; where a bug is, does.
  failure.stack =
    type === 'InternalError' && error instanceof Error ? conceal(topOf(error.stack), secrets) : undefined;
  return failure;
}

/** Runs `effect`; an error with one of our names keeps it and is told apart by what was being tried. */
export async function during<R>(what: string, effect: () => Promise<R>): Promise<R> {
  try {
    return await effect();
  } catch (error) {
    throw isKnown(error) ? new CallFailure(error.type, `${what}: ${error.message}`, error) : error;
  }
}

/**
 * What a tool's error means. A call that may have arrived at a tool that must not be repeated is `ToolUncertain`,
 * unless the tool said by 429 that it did nothing.
 */
export function toolFailure(error: RemoteError, repeatable: boolean): CallFailure {
  const type = toolFailureType(error);
  if (repeatable || !error.sent || !failures[type].retryable || type === 'ToolRateLimited')
    return new CallFailure(type, error.message, error);
  return new CallFailure('ToolUncertain', uncertain(error.message), error);
}

/**
 * What an error of something far away means that may be asked again: it was `unavailable`, which heals, or it has
 * `rejected` what it was asked, which does not.
 */
export function remoteFailure(
  error: RemoteError,
  { unavailable, rejected }: { readonly unavailable: FailureType; readonly rejected: FailureType },
): CallFailure {
  const { kind, status = 0 } = error;
  const heals =
    kind === 'network' ||
    kind === 'timeout' ||
    (kind === 'status' && (status === 408 || status === 429 || status >= 500));
  return new CallFailure(heals ? unavailable : rejected, error.message, error);
}

/** For people who have to find out whether the tool did its work. */
export const uncertain = (what: string): string =>
  `${what}; it may have done its work, and its resource says that it must not be repeated (idempotentHint: false)`;

function toolFailureType({ kind, status }: RemoteError): FailureType {
  switch (kind) {
    case 'status':
      if (status === 429) return 'ToolRateLimited';
      return status === 408 || (status ?? 0) >= 500 ? 'ToolUnavailable' : 'ToolRejected';
    case 'network':
      return 'ToolUnreachable';
    case 'timeout':
      return 'ToolTimeout';
    case 'template':
      return 'TemplateInvalid';
    case 'too-large':
      return 'PayloadTooLarge';
    case 'protocol':
    case 'refused':
      return 'ToolRejected';
  }
}

export const isRemoteError = (error: unknown): error is RemoteError =>
  error instanceof Error && 'kind' in error && 'sent' in error;

const secretFailureTypes = {
  NotFound: 'SecretUnavailable',
  Forbidden: 'AccessDenied',
  Unavailable: 'KubernetesUnavailable',
} as const satisfies Record<SecretError['code'], FailureType>;

export const secretFailure = ({ code, message }: SecretError): CallFailure =>
  new CallFailure(secretFailureTypes[code], message);

export const isSecretError = (error: unknown): error is SecretError =>
  error instanceof Error && 'code' in error && String(error.code) in secretFailureTypes;

const isKnown = (error: unknown): error is KnownError =>
  error instanceof Error && 'type' in error && typeof error.type === 'string' && error.type in failures;

function unforeseen(error: unknown): CallFailure {
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new CallFailure('InternalError', `unforeseen error in an activity: ${what}`);
}

const cut = (message: string): string =>
  message.length <= messageCharactersMax ? message : `${message.slice(0, messageCharactersMax - 1)}…`;

const short = (fact: string): string => fact.slice(0, 100);

const topOf = (stack = ''): string => stack.split('\n').slice(0, stackLinesMax).join('\n');
