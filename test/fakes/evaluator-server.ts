import {
  startJournaledServer,
  type JournaledReply,
  type JournaledRequest,
} from '../../src/dev/journaled-server.ts';

export interface EvaluatorServer {
  /** The whole address: evaluators are posted to at it, and nowhere else. */
  readonly url: string;
  /** Oldest first. */
  readonly requests: readonly JournaledRequest[];
  stop(): Promise<void>;
}

/** An evaluator on loopback; without `reply` everything passes with 0.9. */
export async function startEvaluatorServer(
  reply: (call: unknown, request: JournaledRequest) => JournaledReply | Promise<JournaledReply> = pass,
): Promise<EvaluatorServer> {
  const server = await startJournaledServer((request) =>
    request.path === '/evaluate' && request.method === 'POST'
      ? reply(JSON.parse(request.body), request)
      : { status: 404 },
  );
  return { url: `${server.url}/evaluate`, requests: server.requests, stop: () => server.close() };
}

const pass = (): JournaledReply => ({
  body: JSON.stringify({ score: '0.9', passed: true, metadata: { reasoning: 'complete' } }),
});
