import type { EvaluatorPort } from '../../activities/ports.ts';
import { createHttp, inWords } from '../http/create-http.ts';
import { postJson } from '../http/json.ts';
import type { RemoteError } from '../remote-error.ts';
import { evaluatorReply } from './evaluator-reply.ts';

const answerBytesMax = 1024 * 1024;

/**
 * Asks evaluators, once per call. Rejects with the signal's reason, or with a RemoteError in the words of contract
 * section 7.1.
 */
export function createEvaluators(): EvaluatorPort & { close(): Promise<void> } {
  const http = createHttp();
  return {
    async evaluate(address, request, { idempotencyKey, ...limits }) {
      const answer = await postJson(http, address, request, {
        ...limits,
        bytesMax: answerBytesMax,
        headers: [{ name: 'idempotency-key', value: idempotencyKey }],
        isAnswer: (status) => status === 200,
      }).catch((error: unknown) => {
        throw inWords(error, inWordsOfEvaluators);
      });
      return evaluatorReply(answer);
    },
    close: () => http.close(),
  };
}

function inWordsOfEvaluators({ kind, status, message }: RemoteError): string {
  if (status !== undefined) return `evaluator returned status ${status}`;
  return kind === 'protocol' || kind === 'too-large'
    ? `failed to decode evaluation response: ${message}`
    : `failed to call evaluator: ${message}`;
}
