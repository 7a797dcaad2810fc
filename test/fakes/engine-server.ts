import {
  startJournaledServer,
  type JournaledReply,
  type JournaledRequest,
} from '../../src/dev/journaled-server.ts';

/** What engines are posted, as they read it. */
export interface EngineCall {
  readonly agent: {
    readonly name: string;
    readonly namespace: string;
    readonly prompt: string;
    readonly description: string;
    readonly parameters?: readonly { readonly name: string; readonly value: string }[];
    readonly model: { readonly name: string; readonly type: string; readonly config: object };
    readonly outputSchema?: object;
  };
  readonly userInput: { readonly role: string; readonly content: string };
  readonly history: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly object[];
}

export interface EngineServer {
  readonly url: string;
  /** Oldest first. */
  readonly requests: readonly JournaledRequest[];
  /** The bodies of `requests`. */
  readonly calls: readonly EngineCall[];
  stop(): Promise<void>;
}

/** An execution engine on loopback, as the shipped Python base serves one; without `reply` it says what it was told. */
export async function startEngineServer(
  reply: (call: EngineCall, request: JournaledRequest) => JournaledReply | Promise<JournaledReply> = echo,
): Promise<EngineServer> {
  const calls: EngineCall[] = [];
  const server = await startJournaledServer(async (request) => {
    const { pathname } = new URL(request.path, 'http://localhost');
    if (pathname !== '/execute' || request.method !== 'POST') return { status: 404 };
    const call = JSON.parse(request.body) as EngineCall;
    calls.push(call);
    return reply(call, request);
  });
  return { url: server.url, requests: server.requests, calls, stop: () => server.close() };
}

const echo = ({ agent, userInput }: EngineCall): JournaledReply => ({
  body: JSON.stringify({
    messages: [{ role: 'assistant', content: `Echo: ${userInput.content}`, name: agent.name }],
    error: '',
    token_usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  }),
});
