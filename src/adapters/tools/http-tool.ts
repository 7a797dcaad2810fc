import type { HttpToolPort } from '../../activities/ports.ts';
import { createHttp, inWords, type HttpOptions } from '../http/create-http.ts';
import { readCapped } from '../http/read-capped.ts';
import { httpToolRequest } from './http-tool-request.ts';

/**
 * Uses HTTP tools over pooled connections, once per call: whether to try again is Temporal's to decide. An aborted call
 * rejects with the signal's reason, every other failure with a RemoteError.
 */
export function createHttpTools(options: HttpOptions = {}): HttpToolPort & { close(): Promise<void> } {
  const http = createHttp(options);
  return {
    async call(tool, args, { signal, idempotencyKey }) {
      const request = httpToolRequest(tool, args, idempotencyKey);
      try {
        const limits = { signal, timeoutMs: tool.timeoutMs };
        return { content: await http.send(request, readCapped, limits) };
      } catch (error) {
        throw inWords(error, ({ status, message }) =>
          status === undefined ? `failed to fetch URL: ${message}` : `HTTP error ${status}: ${message}`,
        );
      }
    },
    close: () => http.close(),
  };
}
