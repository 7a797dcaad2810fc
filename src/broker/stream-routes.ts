import { Hono, type Context } from 'hono';
import type { BrokerMetrics } from '../adapters/telemetry/metrics.ts';
import { parseDuration } from '../api/durations.ts';
import { afterEvent, eventSource } from './event-source.ts';
import { eachLine } from './lines.ts';
import { Refusal } from './refusal.ts';
import type { Streams } from './streams.ts';

const queryCharactersMax = 512;
/** Below the time after which common HTTP clients give up on an answer's first byte. */
const waitMaxMs = 4 * 60_000;

export interface StreamServices {
  readonly streams: Streams;
  readonly metrics: BrokerMetrics;
  /** Aborts when the broker stops: readers are then let go. */
  readonly stopping: AbortSignal;
}

/** Answers while they are being written (contract section 12): `/stream/{query}` and `/stream/{query}/complete`. */
export function streamRoutes({ streams, metrics, stopping }: StreamServices): Hono {
  async function write(c: Context): Promise<Response> {
    const query = queryOf(c);
    let chunks = 0;
    try {
      for await (const line of eachLine(c.req.raw.body)) {
        streams.write(query, chunkText(line, chunks + 1));
        chunks += 1;
      }
    } finally {
      metrics.chunks.inc(chunks);
    }
    return c.json({ status: 'received', query, chunks });
  }

  async function read(c: Context): Promise<Response> {
    // It would hold a reader's place without ever reading.
    if (c.req.method === 'HEAD') throw new Refusal(405, 'Ask with GET');
    const query = queryOf(c);
    const waitMs = waitMsOf(c);
    const gone = AbortSignal.any([c.req.raw.signal, stopping]);
    const leave = streams.admitReader();
    try {
      // One that begins while it is waited for is read from its beginning, or its first words would be lost.
      const wasThere = streams.find(query) !== undefined;
      const stream = await streams.appears(query, waitMs, gone);
      if (!stream) throw new Refusal(404, `There is no stream of query ${query}`);

      const last = c.req.header('last-event-id');
      const fromBeginning = c.req.query('from-beginning') === 'true' || last !== undefined || !wasThere;
      const from = (last && afterEvent(stream, last)) || (fromBeginning ? 1 : stream.newest + 1);
      const onCutOff = (reason: string): void => metrics.readersCutOff.inc({ reason });
      const body = eventSource(stream, { from, signal: gone, onCutOff, onEnd: leave });
      return c.body(body, 200, sse);
    } catch (error) {
      leave();
      throw error;
    }
  }

  return new Hono()
    .post('/stream/:query', write)
    .get('/stream/:query', read)
    .post('/stream/:query/complete', (c) => {
      const query = queryOf(c);
      streams.complete(query);
      return c.json({ status: 'completed', query });
    });
}

const sse = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // nginx would otherwise hold back events until it has a page of them.
  'x-accel-buffering': 'no',
};

function queryOf(c: Context): string {
  const query = c.req.param('query') ?? '';
  if (query !== '' && query.length <= queryCharactersMax) return query;
  throw new Refusal(400, `The name of a query has 1 to ${queryCharactersMax} characters`);
}

function waitMsOf(c: Context): number {
  const text = c.req.query('wait-for-query');
  if (text === undefined || text === '') return 0;
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 0) return Math.min(ms, waitMaxMs);
  throw new Refusal(400, 'wait-for-query must be a duration such as 30s or 2m');
}

/** The chunk as it goes to readers: what was sent, if it is a JSON object. */
function chunkText(line: string, number: number): string {
  try {
    const chunk: unknown = JSON.parse(line);
    if (typeof chunk === 'object' && chunk !== null && !Array.isArray(chunk)) return line;
  } catch {
    // The same answer as for JSON that is no object.
  }
  throw new Refusal(400, `Line ${number} is not a JSON object; the lines before it were taken`);
}
