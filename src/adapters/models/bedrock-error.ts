import type { FailureType } from '../../api/failures.ts';
import { retryAfterMs } from '../retry-after.ts';
import { codeOf, ModelError } from './model-error.ts';

interface Call {
  readonly tried: string;
  readonly timeoutMs: number;
  readonly timedOut: boolean;
}

/** What an error of the AWS library means; one that is none of its own is returned as it is. */
export function toBedrockError(error: unknown, { tried, timeoutMs, timedOut }: Call): unknown {
  if (error instanceof ModelError) return error;
  if (timedOut)
    return new ModelError('ModelTimeout', `${tried}: no answer within ${Math.round(timeoutMs / 100) / 10} s`);

  const { name = '', message = '', $metadata, $response } = error as AwsError;
  const status = $metadata?.httpStatusCode;
  if (status !== undefined)
    return new ModelError(typeOf(name, message, status), `${tried}: ${status} ${name}: ${message}`, {
      status,
      code: name,
      requestId: $metadata?.requestId,
      retryAfterMs: retryAfterMs({ get: (header) => $response?.headers?.[header] ?? null }, Date.now()),
    });
  if (/credential|token/i.test(name))
    return new ModelError('ModelUnauthorized', `${tried}: no AWS credentials: ${message}`, { code: name });
  if (/region is missing/i.test(message))
    return new ModelError('ValueInvalid', `${tried}: no AWS region; set spec.config.bedrock.region`);

  const code = codeOf(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new ModelError('PayloadTooLarge', `${tried}: the answer is larger than 16 MiB`, { code });
  if (code !== undefined)
    return new ModelError('ModelUnreachable', `${tried}: the connection failed (${code})`, { code });
  return error;
}

/** The names are those of InvokeModel's errors and of what AWS says to every service. */
function typeOf(name: string, message: string, status: number): FailureType {
  switch (name) {
    case 'ThrottlingException':
    case 'TooManyRequestsException':
      return 'ModelRateLimited';
    case 'ServiceQuotaExceededException':
      return 'ModelQuotaExceeded';
    case 'ValidationException':
      return /too long|too many (input )?tokens|context (length|window)/i.test(message)
        ? 'ModelContextLength'
        : 'ModelBadRequest';
    case 'ResourceNotFoundException':
      return 'ModelNotFound';
    case 'ModelTimeoutException':
      return 'ModelTimeout';
    case 'ModelNotReadyException':
    case 'ModelErrorException':
      return 'ModelUnavailable';
    default:
      return typeOfStatus(name, status);
  }
}

function typeOfStatus(name: string, status: number): FailureType {
  if (status === 401 || status === 403 || /Token|Signature|UnrecognizedClient|AccessDenied/.test(name))
    return 'ModelUnauthorized';
  if (status === 404) return 'ModelNotFound';
  if (status === 429) return 'ModelRateLimited';
  // Not an error to the library: what answers is no Bedrock.
  if (status < 400) return 'ModelReplyInvalid';
  return status === 408 || status >= 500 ? 'ModelUnavailable' : 'ModelBadRequest';
}

/** The facts of an error of the AWS library. */
interface AwsError {
  readonly name?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}
