import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { KubernetesConnection } from './connection.ts';
import { isAlreadyExists } from './kubernetes-error.ts';

export interface EventRecorder {
  /** Tells people about an object. Returns at once and never throws: what cannot be told is counted. */
  record(about: ObjectReference, event: EventText): void;
  state(): { readonly waiting: number; readonly written: number; readonly dropped: number };
  /** Writes what is waiting, within `closeMsMax`, and takes no more. */
  close(): Promise<void>;
}

export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface EventText {
  /** `source.component`: `query-controller`, `memory-controller` and so on (contract 6.1 and 6.2). */
  readonly component: string;
  readonly type?: 'Normal' | 'Warning';
  /** At most 128 bytes. */
  readonly reason: string;
  /** Cut to 16 KiB. */
  readonly message: string;
}

export interface EventRecorderOptions {
  readonly waitingMax?: number;
  /** Each object may have `burst` events at once and `perSecond` in the long run (contract 6.1: 100 and 100). */
  readonly burst?: number;
  readonly perSecond?: number;
  /** How many are written at the same time, and how long each writer then rests: Events must not be in the way. */
  readonly writers?: number;
  readonly restMs?: number;
  /** Called for each event that is given up, with why; full queues and rate limits have no error. */
  readonly onDrop?: (about: ObjectReference, event: EventText, error?: unknown) => void;
}

const writersDefault = 4;
const attemptsMax = 3;
const closeMsMax = 2_000;
const messageBytesMax = 16 * 1024;
const reasonBytesMax = 128;
const nameLengthMax = 253;
const objectsMax = 10_000;
const perMillisecond = 1_000_000;

interface Pending {
  readonly about: ObjectReference;
  readonly event: EventText;
  readonly at: string;
}

/** Writes core/v1 Events beside the work: bounded in number, in rate and in tries, because losing one loses nothing. */
export function createEventRecorder(
  connection: KubernetesConnection,
  options: EventRecorderOptions = {},
): EventRecorder {
  const { waitingMax = 1_000, burst = 100, perSecond = 100, onDrop = () => {} } = options;
  const { writers: writersMax = writersDefault, restMs = 0 } = options;
  const within = rateLimit(burst, perSecond);
  const waiting: Pending[] = [];
  const stopping = new AbortController();
  const writers = new Set<Promise<void>>();
  let open = true;
  let written = 0;
  let dropped = 0;

  function drop({ about, event }: Pick<Pending, 'about' | 'event'>, error?: unknown): void {
    dropped++;
    onDrop(about, event, error);
  }

  async function write(pending: Pending): Promise<void> {
    const { namespace, name } = pending.about;
    try {
      await connection.request('POST', `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`, {
        what: `create events about ${pending.about.kind} ${namespace}/${name}`,
        body: bodyOf(pending),
        // Its name is its own: a second one of the same name is the first one, arrived.
        repeatable: true,
        attemptsMax,
        signal: stopping.signal,
      });
      written++;
    } catch (error) {
      if (isAlreadyExists(error)) written++;
      else drop(pending, error);
    }
  }

  async function writeAll(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      await write(next);
      if (restMs > 0 && open) await sleep(restMs);
    }
  }

  return {
    record(about, event) {
      if (!open || waiting.length >= waitingMax || !within(about.uid)) return drop({ about, event });

      waiting.push({ about, event, at: new Date().toISOString() });
      if (writers.size >= writersMax) return;
      const writer: Promise<void> = writeAll().finally(() => writers.delete(writer));
      writers.add(writer);
    },

    state: () => ({ waiting: waiting.length, written, dropped }),

    async close() {
      open = false;
      const late = setTimeout(() => stopping.abort(new Error('the recorder was closed')), closeMsMax);
      await Promise.all(writers);
      clearTimeout(late);
    },
  };
}

/** A bucket of `burst` drops for each object, refilled at `perSecond`; objects not heard of for long start full. */
function rateLimit(burst: number, perSecond: number): (uid: string) => boolean {
  const buckets = new LRUCache<string, { left: number; atMs: number }>({ max: objectsMax });
  return (uid) => {
    const nowMs = performance.now();
    const bucket = buckets.get(uid) ?? { left: burst, atMs: nowMs };
    const left = Math.min(burst, bucket.left + ((nowMs - bucket.atMs) / 1_000) * perSecond);
    buckets.set(uid, { left: left >= 1 ? left - 1 : left, atMs: nowMs });
    return left >= 1;
  };
}

function bodyOf({ about, event, at }: Pending): object {
  const suffix = `.${uniqueTime()}`;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      namespace: about.namespace,
      name: about.name.slice(0, nameLengthMax - suffix.length) + suffix,
    },
    involvedObject: about,
    type: event.type ?? 'Normal',
    reason: cut(event.reason, reasonBytesMax),
    message: cut(event.message, messageBytesMax),
    source: { component: event.component },
    reportingComponent: event.component,
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}

let named = randomInt(perMillisecond);

/** As client-go names them: the time in nanoseconds, hexadecimal, so that a list by name is a list by time. */
function uniqueTime(): string {
  named = (named + 1) % perMillisecond;
  return (BigInt(Date.now()) * BigInt(perMillisecond) + BigInt(named)).toString(16);
}

const mark = '…';

/** At most `bytesMax` bytes of UTF-8, never half a character, with a mark where something is missing. */
function cut(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const room = bytesMax - Buffer.byteLength(mark);
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(room));
  return text.slice(0, read) + mark;
}
