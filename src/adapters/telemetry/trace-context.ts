import { AsyncLocalStorage } from 'node:async_hooks';

const contexts = new AsyncLocalStorage<string>();

/** Runs `work`; every request that it makes bears this `traceparent` (W3C Trace Context). */
export const inTraceContext = <R>(traceparent: string, work: () => R): R => contexts.run(traceparent, work);

/** What a request to a far side bears, so that its spans join ours; empty where nothing is traced. */
export function traceHeaders(): { readonly traceparent?: string } {
  const traceparent = contexts.getStore();
  return traceparent === undefined ? {} : { traceparent };
}
