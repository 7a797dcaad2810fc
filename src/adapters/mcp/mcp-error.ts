import { STATUS_CODES } from 'node:http';
import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { RemoteError } from '../remote-error.ts';
import type { Journey } from './journey.ts';

const causesMax = 5;

interface Facts extends Pick<Journey, 'sent' | 'status' | 'retryAfterMs' | 'cause'> {
  readonly timeoutMs: number;
  readonly timedOut: boolean;
}

/** Why an exchange has no answer; `words` say what was tried. What the network knows goes before what the library says. */
export function remoteError(error: unknown, words: string, facts: Facts): RemoteError {
  if (error instanceof RemoteError) return error;
  const { sent, status, retryAfterMs, timeoutMs, timedOut } = facts;
  if (error instanceof ProtocolError) return new RemoteError('refused', error.message, { sent });
  if (status !== undefined)
    return new RemoteError('status', `${words}: ${`${status} ${STATUS_CODES[status] ?? ''}`.trim()}`, {
      sent,
      status,
      retryAfterMs,
    });
  if (timedOut || isSdk(error, SdkErrorCode.RequestTimeout))
    return new RemoteError('timeout', `${words}: no answer within ${timeoutMs / 1_000} s`, { sent });
  if (isSdk(error, SdkErrorCode.InvalidResult) || isSdk(error, SdkErrorCode.ClientHttpUnexpectedContent))
    return new RemoteError('protocol', `${words}: the answer is not what MCP says it should be`, { sent });

  const code = codeOf(facts.cause) ?? codeOf(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new RemoteError('too-large', `${words}: the answer is larger than 16 MiB`, { sent });
  if (facts.cause !== undefined || isSdk(error, SdkErrorCode.ConnectionClosed) || code !== undefined)
    return new RemoteError(
      code !== undefined && /TIMEOUT|TIMEDOUT/.test(code) ? 'timeout' : 'network',
      `${words}: the connection failed (${code ?? 'closed'})`,
      { sent },
    );
  return new RemoteError('protocol', `${words}: ${error instanceof Error ? error.message : String(error)}`, {
    sent,
  });
}

const isSdk = (error: unknown, code: SdkErrorCode): boolean =>
  error instanceof SdkError && error.code === code;

/** The system's or undici's code, the innermost of them. */
function codeOf(error: unknown): string | undefined {
  let code: string | undefined;
  for (let at = error, depth = 0; isObject(at) && depth < causesMax; at = at['cause'], depth += 1) {
    const { code: said } = at;
    if (typeof said === 'string' && /^(E[A-Z]|UND_)/.test(said)) code = said;
  }
  return code;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
