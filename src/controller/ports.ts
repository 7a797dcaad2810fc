import type { QuerySpec, QueryStatus } from '../api/query.ts';
import type { Failure, Progress, RunOutcome } from '../api/run.ts';
import type { Hash, Snapshot } from '../api/snapshot.ts';

/** What reconciling a Query needs from the world, as interfaces: a cluster, Temporal, the definitions, a clock. */
export interface ControllerPorts {
  readonly queries: Queries;
  readonly runs: Runs;
  readonly snapshots: Snapshots;
  readonly now: () => Date;
  /** Address of Temporal's Web UI, for the links in status. */
  readonly temporalUi?: { readonly address: string; readonly namespace: string };
}

export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** A Query as last seen, with the controller's own later writes. */
export interface SeenQuery extends ObjectKey {
  readonly uid: string;
  readonly generation: number;
  readonly createdAt: Date;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Present once somebody asked to delete it. */
  readonly deletedAt?: Date;
  /** Our finalizer is on it: it cannot vanish while its run is open, unless by force. */
  readonly held: boolean;
  /** As written by the user, perhaps before a rule existed that forbids it. */
  readonly spec: Partial<QuerySpec>;
  readonly status: Partial<QueryStatus>;
}

export interface Queries {
  get(key: ObjectKey): SeenQuery | undefined;
  /** Objects of this name that went away: normally with their run closed, by force with it open. */
  vanished(key: ObjectKey): readonly SeenQuery[];
  forgetVanished(query: SeenQuery): void;
  /** Puts our finalizer on it, if it is not there; undefined where the object is gone or being deleted. */
  hold(query: SeenQuery): Promise<SeenQuery | undefined>;
  /** Takes our finalizer off; nothing to do where the object is gone. */
  release(query: SeenQuery): Promise<void>;
  /** Asks to delete this very object (by uid); nothing to do where it is gone. */
  remove(query: SeenQuery): Promise<void>;
  /** Makes status say this, whatever else of the object changed meanwhile; no call where it already does. */
  writeStatus(query: SeenQuery, status: QueryStatus): Promise<void>;
}

/** The run of a Query, as Temporal tells it. Times are Temporal's. */
export type Run = AbsentRun | OpenRun | ClosedRun;

/** Never started, or closed so long ago that Temporal has forgotten it. */
export interface AbsentRun {
  readonly state: 'absent';
}

export interface OpenRun {
  readonly state: 'open';
  readonly runId: string;
  readonly startedAt: Date;
  readonly snapshotHash?: Hash;
  readonly progress?: RunProgress;
}

export interface ClosedRun {
  readonly state: 'closed';
  readonly runId: string;
  readonly startedAt?: Date;
  readonly closedAt: Date;
  readonly snapshotHash?: Hash;
  readonly outcome: RunOutcome;
  /** Why the run as a whole did not succeed; absent where it is `done`. */
  readonly failure?: Failure;
}

/** What the run is doing, and what holds it up. */
export interface RunProgress extends Partial<Progress> {
  /** The call that is being repeated, or waits to be. */
  readonly pending?: {
    readonly attempt: number;
    readonly lastFailure?: string;
    readonly nextRetryAt?: Date;
  };
}

/** A run is found by its Query: the workflow's id is made of namespace, name and uid. */
export type RunOwner = Pick<SeenQuery, 'namespace' | 'name' | 'uid'>;

export interface Runs {
  /** Starts the run, or finds the one that was started before, open or closed. */
  start(query: RunOwner, snapshot: Snapshot, hash: Hash): Promise<OpenRun | ClosedRun>;
  look(query: RunOwner): Promise<Run>;
  /** Whether this run was found open and not forgotten since: `look` then answers without a call. */
  isFollowed(query: RunOwner): boolean;
  /** Asks the run to end and keep what was answered; asking twice is asking once, a closed run stays as it is. */
  cancel(query: RunOwner): Promise<void>;
  /** Ends the run from outside; a closed run stays as it is. */
  terminate(query: RunOwner, reason: string): Promise<void>;
  /** Nobody will ask about this run again. */
  forget(query: RunOwner): void;
}

/** A snapshot to start with, or the reason why there can be none. */
export type Built = { readonly snapshot: Snapshot; readonly hash: Hash } | Refusal;

export interface Refusal {
  readonly failure: Failure;
  /** Something the Query names is not there, or not there yet. */
  readonly missing?: boolean;
}

export interface Snapshots {
  /** Rejects only for what heals by itself (an API that cannot be reached, a cache that is not filled). */
  build(query: SeenQuery): Promise<Built>;
}

/** When to look at a key again if nothing happens to it. */
export type Next = 'settled' | { readonly requeueAfterMs: number };
