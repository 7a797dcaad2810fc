import type { CallOptions, EnginePort, EngineRequest, Timed } from '../../activities/ports.ts';
import type { EngineReply } from '../../api/run.ts';
import type { A2a } from '../a2a/create-a2a.ts';
import { createHttp, inWords, type Http } from '../http/create-http.ts';
import { postJson } from '../http/json.ts';
import type { RemoteError } from '../remote-error.ts';
import { engineReply } from './engine-reply.ts';
import { engineBody } from './engine-request.ts';

const engineTimeoutMsMax = 300_000;

/**
 * Lets execution engines run agents, once per call and for at most five minutes. Rejects with the signal's reason, or
 * with a RemoteError in the words of contract section 4.14; one that is asked over A2A, with those of section 4.13.
 */
export function createEngines(a2a: Pick<A2a, 'send'>): EnginePort & { close(): Promise<void> } {
  const http = createHttp();
  return {
    execute({ address, protocol }, request, options) {
      const bounded = { ...options, timeoutMs: Math.min(options.timeoutMs, engineTimeoutMsMax) };
      return protocol === 'a2a'
        ? tell(a2a, address, request, bounded)
        : execute(http, address, request, bounded);
    },
    close: () => http.close(),
  };
}

async function execute(
  http: Http,
  address: string,
  request: EngineRequest,
  { idempotencyKey, ...limits }: CallOptions & Timed,
): Promise<EngineReply> {
  // The path is appended as ARK does it, whatever the address ends in.
  const answer = await postJson(http, `${address}/execute`, engineBody(request), {
    ...limits,
    headers: [{ name: 'idempotency-key', value: idempotencyKey }],
    isAnswer: (status) => status === 200,
  }).catch((error: unknown) => {
    throw inWords(error, inWordsOfEngines);
  });
  return engineReply(answer);
}

function inWordsOfEngines({ kind, status, message }: RemoteError): string {
  if (status !== undefined) return `execution engine returned error status: ${status}`;
  return kind === 'protocol' || kind === 'too-large'
    ? `failed to decode response: ${message}`
    : `execution engine request failed: ${message}`;
}

/** The user's words are the message; what else the engine should know goes into its metadata (contract section 9, row 30). */
async function tell(
  a2a: Pick<A2a, 'send'>,
  address: string,
  request: EngineRequest,
  options: CallOptions & Timed,
): Promise<EngineReply> {
  const { userInput: _, ...metadata } = engineBody(request);
  const content = await a2a.send({ address, headers: [] }, request.userInput, { ...options, metadata });
  return { messages: [{ role: 'assistant', content }] };
}
