import { keyText } from '../../adapters/kubernetes/objects.ts';
import type { ObjectKey } from '../ports.ts';
import { backOffMs, backOffMsMax, recheckMs } from './back-off.ts';

/**
 * When each server was asked and when it is to be asked again. Kept in memory: a new process asks everybody once. Told
 * of every change of an object, also of its own status, it keeps the calls at the pace that the object wants.
 */
export interface Polls {
  /** 0: now. Another question (`hash`), or another object of that name, does not wait for its turn. */
  dueInMs(server: PolledServer, hash: string): number;
  /** Returns when to come again; `everyMs` 0 means that it is asked once. */
  succeeded(server: PolledServer, hash: string, everyMs: number): number;
  /** Returns when to come again: soon, then ever later, never later than `everyMs` asks for. */
  failed(server: PolledServer, hash: string, everyMs: number): number;
  forget(key: ObjectKey): void;
}

export type PolledServer = ObjectKey & { readonly uid: string };

interface Poll {
  readonly uid: string;
  readonly hash: string;
  /** Infinity: not again, as long as the question is the same. */
  readonly dueMs: number;
  readonly failures: number;
}

/** Nobody is asked more often. */
const everyMsMin = 1_000;

export function createPolls(now: () => Date): Polls {
  const polls = new Map<string, Poll>();

  function asked(server: PolledServer, hash: string, failures: number, waitMs: number): number {
    const dueMs = now().getTime() + waitMs;
    polls.set(keyText(server), { uid: server.uid, hash, dueMs, failures });
    // What the question is made of may have changed before the next poll is due.
    return Math.min(waitMs, recheckMs);
  }

  return {
    dueInMs(server, hash) {
      const last = polls.get(keyText(server));
      if (last?.uid !== server.uid || last.hash !== hash) return 0;
      return Math.min(Math.max(0, last.dueMs - now().getTime()), recheckMs);
    },
    succeeded: (server, hash, everyMs) =>
      asked(server, hash, 0, everyMs === 0 ? Infinity : Math.max(everyMs, everyMsMin)),
    failed(server, hash, everyMs) {
      const last = polls.get(keyText(server));
      const failures = last?.uid === server.uid && last.hash === hash ? last.failures + 1 : 1;
      const longestMs = everyMs === 0 ? backOffMsMax : Math.max(everyMs, everyMsMin);
      return asked(server, hash, failures, Math.min(backOffMs(failures), longestMs));
    },
    forget: (key) => void polls.delete(keyText(key)),
  };
}
