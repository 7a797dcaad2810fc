import {
  startJournaledServer,
  type JournaledReply,
  type JournaledRequest,
} from '../../src/dev/journaled-server.ts';

export interface A2aRequest {
  readonly method: string;
  readonly params: {
    readonly id?: string;
    readonly message?: {
      readonly messageId: string;
      readonly role: string;
      readonly parts: readonly { readonly text: string }[];
      readonly metadata?: unknown;
    };
  };
  readonly http: JournaledRequest;
}

export type A2aReply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }
  | JournaledReply;

export interface A2aServer {
  readonly url: string;
  /** The JSON-RPC calls, oldest first; cards that were fetched are not among them. */
  readonly requests: readonly A2aRequest[];
  /** What was asked by GET, oldest first. */
  readonly cards: readonly JournaledRequest[];
  stop(): Promise<void>;
}

export interface A2aServerOptions {
  /** What a call is answered with; without it, a Message `Echo: <text>`. */
  readonly reply?: (request: A2aRequest) => A2aReply | Promise<A2aReply>;
  readonly card?: unknown;
  readonly cardPath?: string;
  readonly cardStatus?: number;
}

export const echoCard = {
  name: 'Echo Agent',
  description: 'Says what it is told.',
  url: 'http://elsewhere.invalid/',
  version: '1.0.0',
  protocolVersion: '0.2.5',
  capabilities: {},
  defaultInputModes: ['text'],
  defaultOutputModes: ['text'],
  skills: [{ id: 'echo', name: 'Echo', description: 'Echoes', tags: ['demo'], examples: ['Hi'] }],
};

/** An A2A server on loopback, as the Python SDK 0.2 serves one. */
export async function startA2aServer({
  reply = echo,
  card = echoCard,
  cardPath = '/.well-known/agent.json',
  cardStatus = 200,
}: A2aServerOptions = {}): Promise<A2aServer> {
  const requests: A2aRequest[] = [];
  const cards: JournaledRequest[] = [];
  const server = await startJournaledServer(async (http) => {
    if (http.method === 'GET') {
      cards.push(http);
      return http.path === cardPath ? { status: cardStatus, body: JSON.stringify(card) } : { status: 404 };
    }
    const { id, method, params } = JSON.parse(http.body) as A2aRequest & { readonly id: unknown };
    const request = { method, params, http };
    requests.push(request);
    const answer = await reply(request);
    if (typeof answer === 'string' || !('result' in answer || 'error' in answer)) return answer;
    return { body: JSON.stringify({ jsonrpc: '2.0', id, ...answer }) };
  });
  return { url: server.url, requests, cards, stop: () => server.close() };
}

export const messageOf = (...texts: readonly string[]) => ({
  kind: 'message',
  messageId: 'm1',
  role: 'agent',
  parts: texts.map((text) => ({ kind: 'text', text })),
});

const echo = ({ params }: A2aRequest): A2aReply => ({
  result: messageOf(`Echo: ${params.message?.parts.map(({ text }) => text).join('') ?? ''}`),
});
