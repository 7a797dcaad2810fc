import type { MemoryAddress } from '../../activities/ports.ts';
import type { Http } from '../http/create-http.ts';
import { getJson } from '../http/json.ts';
import { RemoteError } from '../remote-error.ts';

/** How many of the newest messages are looked at. */
const newestMax = 1_000;
/** A service that does not say how many there are is read from the start, page after page. */
const pagesMax = 100;

/**
 * The newest messages of a conversation in the newer dialect (contract section 12), in order, of those after the first
 * `since`; and how many it holds. Services differ in how they wrap a page and in how many messages they put into one.
 */
export async function readConversation(
  http: Http,
  { address, session }: MemoryAddress,
  limits: Parameters<typeof getJson>[2],
  since: number,
): Promise<Kept> {
  const get = async (limit: number, offset: number): Promise<Page> => {
    const of = `conversation_id=${encodeURIComponent(session)}&limit=${limit}&offset=${offset}`;
    return pageOf(await getJson(http, `${address}/messages?${of}`, limits));
  };

  const { total } = await get(1, 0);
  if (total === 0) return { messages: [], held: 0 };
  let offset = Math.max((total ?? 0) - newestMax, since);
  let records: readonly Entry[] = [];
  for (let page = 0; page < pagesMax; page += 1) {
    const { records: more } = await get(newestMax, offset);
    if (more.length === 0) break;
    offset += more.length;
    records = [...records, ...more].slice(-newestMax);
    if (total !== undefined && offset >= total) break;
  }
  return { messages: inOrder(records).map(({ message }) => message), held: offset };
}

/** What a service holds, as it says it. */
export interface Kept {
  readonly messages: readonly unknown[];
  readonly held: number;
}

interface Page {
  readonly records: readonly Entry[];
  readonly total: number | undefined;
}

interface Entry {
  readonly message: unknown;
  readonly sequence?: unknown;
}

function pageOf(answer: unknown): Page {
  const { messages, items, total } = (answer ?? {}) as Record<'messages' | 'items' | 'total', unknown>;
  const records = [answer, messages, items].find((list) => Array.isArray(list)) ?? [];
  if (!(records as unknown[]).every((one) => typeof one === 'object' && one !== null && 'message' in one))
    throw new RemoteError('protocol', 'a record of the conversation holds no message', { sent: true });
  return {
    records: records as readonly Entry[],
    total: typeof total === 'number' ? total : undefined,
  };
}

function inOrder(records: readonly Entry[]): readonly Entry[] {
  if (!records.every(({ sequence }) => typeof sequence === 'number')) return records;
  return records.toSorted((one, other) => Number(one.sequence) - Number(other.sequence));
}
