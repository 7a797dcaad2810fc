import type { Progress } from '../api/run.ts';
import type { Hash } from '../api/snapshot.ts';
import type { RunProgress } from './ports.ts';

/** What a run's memo holds: `query` and `snapshot` from its start, `progress` and `outcome` from the workflow. */
export interface RunMemo {
  readonly query: {
    readonly apiVersion: string;
    readonly kind: 'Query';
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
  };
  readonly snapshot: Hash;
}

export const snapshotHashOf = (memo: Memo): Hash | undefined => memo?.['snapshot'] as Hash | undefined;

/** What the run is doing now, and the call that holds it up, where one had to be repeated. */
export function progressOf(memo: Memo, activities: readonly PendingActivity[]): RunProgress | undefined {
  const progress = memo?.['progress'] as Progress | undefined;
  const pending = mostRepeated(activities);
  if (!progress && !pending) return undefined;

  return { ...progress, ...(pending && { pending: pendingOf(pending) }) };
}

type Memo = Record<string, unknown> | undefined;

/** The fields read from Temporal's `PendingActivityInfo`. */
interface PendingActivity {
  readonly attempt?: number | null;
  readonly lastFailure?: {
    readonly message?: string | null;
    readonly applicationFailureInfo?: { readonly type?: string | null } | null;
  } | null;
  readonly nextAttemptScheduleTime?: Timestamp | null;
}

interface Timestamp {
  readonly seconds?: { toNumber(): number } | null;
  readonly nanos?: number | null;
}

const mostRepeated = (activities: readonly PendingActivity[]): PendingActivity | undefined =>
  activities
    .filter(({ attempt }) => (attempt ?? 1) > 1)
    .toSorted((a, b) => (b.attempt ?? 1) - (a.attempt ?? 1))[0];

function pendingOf(activity: PendingActivity): RunProgress['pending'] {
  const { attempt, lastFailure, nextAttemptScheduleTime } = activity;
  const type = lastFailure?.applicationFailureInfo?.type;
  const told = [type, lastFailure?.message].filter(Boolean).join(': ');
  return {
    attempt: attempt ?? 1,
    ...(told && { lastFailure: told }),
    ...(nextAttemptScheduleTime?.seconds && { nextRetryAt: dateOf(nextAttemptScheduleTime) }),
  };
}

export const dateOf = ({ seconds, nanos }: Timestamp): Date =>
  new Date((seconds?.toNumber() ?? 0) * 1000 + Math.floor((nanos ?? 0) / 1e6));
