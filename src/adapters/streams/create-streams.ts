import { randomUUID } from 'node:crypto';
import type { StreamAddress, StreamPort } from '../../activities/ports.ts';
import { createHttp, type HttpOptions } from '../http/create-http.ts';
import { jsonRequest } from '../http/json.ts';
import { readCapped } from '../http/read-capped.ts';
import { createPublisher, type Dropped, type Send } from './publisher.ts';

const requestTimeoutMs = 5_000;

export interface StreamsOptions extends HttpOptions {
  /** Told how many chunks readers will not see, and why. */
  readonly onDropped?: (dropped: Dropped, chunks: number) => void;
}

/** Sends answers on to a broker while they are written (contract section 12). Nothing here rejects or waits long. */
export function createStreams(options: StreamsOptions = {}): StreamPort & { close(): Promise<void> } {
  const http = createHttp(options);
  const onDropped = options.onDropped ?? (() => undefined);

  /** Posts to a path of the Query's stream. */
  const sendTo =
    ({ address, about }: StreamAddress, signal: AbortSignal, path = ''): Send =>
    async (lines) => {
      const url = `${address.replace(/\/$/, '')}/stream/${encodeURIComponent(about.query)}${path}`;
      const request = {
        ...jsonRequest('POST', url, { headers: [{ name: 'content-type', value: 'application/x-ndjson' }] }),
        body: lines.map((line) => `${line}\n`).join(''),
      };
      await http.send(request, readCapped, { signal, timeoutMs: requestTimeoutMs });
    };

  return {
    open(stream, signal) {
      const call = stream.call ?? randomUUID();
      const publisher = createPublisher(sendTo(stream, signal), onDropped);
      const line = (chunk: object, more: object = {}): string =>
        JSON.stringify({ ...chunk, ark: { ...stream.about, call, ...more } });
      return {
        write: (chunk) => publisher.add(line(chunk)),
        restart: () => publisher.add(line(emptyChunk(), { restart: { call } })),
        end: () => publisher.end(),
      };
    },
    async complete(stream, signal) {
      const final = { ...emptyChunk(), ark: { ...stream.about, completedQuery: stream.about.query } };
      await sendTo(stream, signal)([JSON.stringify(final)]).catch(() => onDropped('unreachable', 1));
      await sendTo(stream, signal, '/complete')([]).catch(() => undefined);
    },
    close: () => http.close(),
  };
}

/** A chunk that says nothing itself, for what its `ark` object says. */
const emptyChunk = () => ({ object: 'chat.completion.chunk', choices: [] });
