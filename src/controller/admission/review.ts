import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { group } from '../../api/kinds.ts';
import { Unreadable } from './absence.ts';
import type { Reader, Rules } from './ports.ts';
import { webhooks } from './webhooks.ts';

const Reviewable = z.looseObject({
  metadata: z.looseObject({
    name: z.string().default(''),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.unknown(),
});

/** What the API server asks; of the object, what every Kubernetes object has. */
export const AdmissionReview = z.object({
  request: z.object({
    uid: z.string(),
    kind: z.object({ group: z.string(), kind: z.string() }),
    operation: z.string(),
    namespace: z.string().default(''),
    object: Reviewable.nullish(),
    oldObject: Reviewable.nullish(),
  }),
});
export type AdmissionReview = z.infer<typeof AdmissionReview>;

export interface AdmissionAnswer {
  readonly apiVersion: 'admission.k8s.io/v1';
  readonly kind: 'AdmissionReview';
  readonly response: {
    readonly uid: string;
    readonly allowed: boolean;
    readonly status?: { readonly code: number; readonly reason: string; readonly message: string };
    readonly warnings?: readonly string[];
  };
}

/** Half of the time the API server waits for us: whoever asks gets our words and not a timeout of its. */
export const reviewMsMax = 5_000;

export interface ReviewOptions {
  /** A reader for one review; its calls end with the signal. */
  readonly reader: (signal: AbortSignal) => Reader;
  readonly withinMs?: number;
  /** Called where it could not be found out whether the object is good. */
  readonly onTrouble?: (error: unknown) => void;
}

type Verdict = Omit<AdmissionAnswer['response'], 'uid'>;

/**
 * Says whether an object may become what it is to be (contract section 2): 403 with the first problem if not, 500 if
 * that cannot be found out in time. Changes nothing, so a dry run is a review like any other.
 */
export async function review({ request }: AdmissionReview, options: ReviewOptions): Promise<AdmissionAnswer> {
  const response = { uid: request.uid, ...(await verdict(request, options)) };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

async function verdict(
  { kind, operation, namespace, object, oldObject }: AdmissionReview['request'],
  options: ReviewOptions,
): Promise<Verdict> {
  if (!object || !['CREATE', 'UPDATE'].includes(operation)) return { allowed: true };
  // Whatever it says by now, nothing may keep an object from going: its finalizers are taken off by updates.
  if (object.metadata.deletionTimestamp) return { allowed: true };
  if (operation === 'UPDATE' && isDeepStrictEqual(object.spec, oldObject?.spec)) return { allowed: true };

  const webhook = kind.group === group && webhooks.find((one) => one.kind.kind === kind.kind);
  if (!webhook) return { allowed: true, warnings: [`Arkwright has no rules for a ${kind.kind}`] };

  const { reader, withinMs = reviewMsMax, onTrouble } = options;
  const { name } = object.metadata;
  const reviewed = { name, namespace, spec: object.spec };
  try {
    const problem = await withDeadline(withinMs, (signal) => first(webhook.rules(reviewed, reader(signal))));
    return problem === undefined ? { allowed: true } : refused(403, 'Forbidden', problem);
  } catch (error) {
    onTrouble?.(error);
    const why = error instanceof Error ? error.message : String(error);
    return refused(500, 'InternalError', `cannot check this ${kind.kind}: ${why}; try again`);
  }
}

const refused = (code: number, reason: string, message: string): Verdict => ({
  allowed: false,
  status: { code, reason, message },
});

async function first(problems: ReturnType<Rules>): Promise<string | undefined> {
  for await (const problem of problems) return problem;
  return undefined;
}

async function withDeadline<T>(withinMs: number, step: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const lateness = new Unreadable(`what it refers to could not be read within ${withinMs / 1_000} s`);
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(lateness);
    late.abort(lateness);
  }, withinMs);
  try {
    return await Promise.race([step(late.signal), promise]);
  } finally {
    clearTimeout(timer);
  }
}
