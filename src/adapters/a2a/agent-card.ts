import type { ResolvedEndpoint } from '../../activities/ports.ts';
import { inWords, type Http } from '../http/create-http.ts';
import { getJson } from '../http/json.ts';
import { RemoteError } from '../remote-error.ts';

const cardTimeoutMs = 30_000;
const cardBytesMax = 1024 * 1024;
/** Where A2A 0.2 has it, as ARK asks (contract section 4.13), and where 0.3 and later have it. */
const paths = ['/.well-known/agent.json', '/.well-known/agent-card.json'] as const;

/** What an agent of an A2A server says of itself, as far as it is used. */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  /** As the card has them; `null` where it has none, as in ARK's annotation (contract section 1.13). */
  readonly skills: readonly unknown[] | null;
}

/** Reads a server's card; rejects with a RemoteError in the contract's words. */
export async function readCard(
  http: Http,
  address: string,
  headers: ResolvedEndpoint['headers'],
  signal: AbortSignal,
): Promise<AgentCard> {
  let refusal: unknown;
  for (const path of paths) {
    try {
      return cardOf(await get(http, address + path, headers, signal));
    } catch (error) {
      if (!(error instanceof RemoteError) || error.status === undefined) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

async function get(
  http: Http,
  url: string,
  headers: ResolvedEndpoint['headers'],
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await getJson(http, url, {
      signal,
      headers,
      timeoutMs: cardTimeoutMs,
      bytesMax: cardBytesMax,
      isAnswer: (status) => status === 200,
    });
  } catch (error) {
    throw inWords(error, ({ status, message }) =>
      status === undefined
        ? `failed to fetch agent card: ${message}`
        : `A2A server returned status ${status}`,
    );
  }
}

function cardOf(answer: unknown): AgentCard {
  const { name, description, skills } = (answer ?? {}) as Partial<Record<keyof AgentCard, unknown>>;
  if (typeof name !== 'string' || name === '')
    throw new RemoteError('protocol', 'failed to read agent card: it has no name', { sent: true });
  return {
    name,
    description: typeof description === 'string' ? description : '',
    skills: Array.isArray(skills) ? skills : null,
  };
}
