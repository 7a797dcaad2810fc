import type { QuerySpec } from '../../src/api/query.ts';
import type { Failure, RunOutcome } from '../../src/api/run.ts';
import type { Snapshot } from '../../src/api/snapshot.ts';
import type {
  Built,
  ClosedRun,
  ControllerPorts,
  ObjectKey,
  OpenRun,
  Run,
  RunOwner,
  SeenQuery,
} from '../../src/controller/ports.ts';
import { reconcileQuery } from '../../src/controller/reconcile-query.ts';

/** How a run of this world behaves once it is started. */
export type Conduct = 'answers' | 'fails' | 'waits for cancel' | 'ignores cancel';

export interface Story {
  readonly spec?: Partial<QuerySpec>;
  readonly conduct?: Conduct;
  /** Why no snapshot can be built; `missingForMs` after the Query's creation it can. */
  readonly refused?: Failure;
  readonly missingForMs?: number;
  /** How long after the Query's creation its selector matches nobody. */
  readonly nobodyForMs?: number;
  /** What the user does once the run is open. */
  readonly user?: 'delete' | 'cancel' | 'remove finalizer';
  readonly status?: SeenQuery['status'];
  readonly deleted?: boolean;
  readonly canceled?: boolean;
}

interface RunRecord {
  runId: string;
  snapshotHash: string;
  startedAt: Date;
  cancelRequested: boolean;
  closed?: { at: Date; outcome: RunOutcome; failure?: Failure };
}

const key: ObjectKey = { namespace: 'default', name: 'hello' };
const uid = '6f1c';
const created = new Date('2026-11-21T12:00:00.000Z');

/**
 * A cluster with one Query, and a Temporal, in memory. Any call to them can be lost: either the request never
 * arrives, or it is carried out and the reply never comes back. `steps` counts the calls.
 */
export class World {
  steps = 0;
  readonly created = created;
  now = created;
  readonly runs = new Map<string, RunRecord>();
  readonly statusWrites: SeenQuery['status'][] = [];
  private query: SeenQuery | undefined;
  private gone: SeenQuery[] = [];
  private readonly followed = new Set<string>();
  private acted = false;
  private lostStep = -1;
  private lostPart: 'request' | 'reply' = 'reply';
  private readonly story: Story;

  constructor(story: Story) {
    this.story = story;
    this.query = {
      ...key,
      uid,
      generation: 1,
      createdAt: created,
      labels: {},
      annotations: {},
      held: Boolean(story.status ?? story.deleted),
      spec: {
        input: 'hi',
        targets: [{ type: 'agent', name: 'bot' }],
        ...story.spec,
        ...(story.canceled && { cancel: true }),
      },
      status: story.status ?? {},
      ...(story.deleted && { deletedAt: created }),
    };
  }

  losing(step: number, part: 'request' | 'reply'): this {
    this.lostStep = step;
    this.lostPart = part;
    return this;
  }

  /** What anyone can see from outside; two worlds with the same state are the same world. */
  get state(): unknown {
    return { query: this.query, runs: Object.fromEntries(this.runs) };
  }

  get status(): SeenQuery['status'] {
    return this.query?.status ?? {};
  }

  get exists(): boolean {
    return this.query !== undefined;
  }

  edit(change: Partial<SeenQuery>): void {
    if (this.query) this.query = { ...this.query, ...change };
  }

  readonly ports: ControllerPorts = {
    now: () => this.now,
    temporalUi: { address: 'http://ui', namespace: 'default' },
    queries: {
      get: () => this.query,
      vanished: () => this.gone,
      forgetVanished: (query) => {
        this.gone = this.gone.filter((other) => other !== query);
      },
      hold: (query) =>
        query.held
          ? Promise.resolve(query)
          : this.call(() => {
              if (!this.query || this.query.deletedAt) return undefined;
              this.edit({ held: true });
              return this.query;
            }),
      release: () =>
        this.call(() => {
          this.edit({ held: false });
          if (this.query?.deletedAt) this.vanish();
        }),
      remove: () =>
        this.call(() => {
          if (this.query?.held) this.edit({ deletedAt: this.query.deletedAt ?? this.now });
          else this.vanish();
        }),
      writeStatus: (query, status) =>
        this.call(() => {
          const same = JSON.stringify(this.query?.status) === JSON.stringify(status);
          if (!same && this.query?.uid === query.uid) {
            this.statusWrites.push(status);
            this.edit({ status });
          }
        }),
    },
    runs: {
      start: async (owner, _, snapshotHash) => {
        const run = await this.call(() => {
          const begun = this.runs.get(owner.uid) ?? {
            runId: `run-${this.runs.size + 1}`,
            snapshotHash,
            startedAt: this.now,
            cancelRequested: false,
          };
          this.runs.set(owner.uid, begun);
          return seen(begun);
        });
        this.follow(owner, run);
        return run;
      },
      look: async (owner) => {
        const run = await this.call<Run>(() => this.lookAt(owner));
        this.follow(owner, run);
        return run;
      },
      isFollowed: (owner) => this.followed.has(owner.uid),
      cancel: (owner) =>
        this.call(() => {
          const run = this.runs.get(owner.uid);
          if (run && !run.closed) run.cancelRequested = true;
        }),
      terminate: (owner, reason) =>
        this.call(() => this.close(owner.uid, 'error', { type: 'RunTerminated', message: reason })),
      forget: (owner) => void this.followed.delete(owner.uid),
    },
    snapshots: {
      build: () =>
        this.call<Built>(() => {
          const { refused, missingForMs = 0, nobodyForMs = 0 } = this.story;
          const ageMs = this.now.getTime() - created.getTime();
          if (refused) return { failure: refused };
          if (ageMs < missingForMs) {
            return {
              failure: { type: 'DefinitionNotFound', message: 'unable to get default/bot' },
              missing: true,
            };
          }
          const targets = ageMs < nobodyForMs ? [] : [{ type: 'agent', name: 'bot' }];
          return { snapshot: { targets } as unknown as Snapshot, hash: `of ${targets.length}` };
        }),
    },
  };

  /** Lets the run and the user act; true where something happened. */
  act(): boolean {
    const run = this.runs.get(uid);
    if (!run || run.closed) return false;

    const { conduct = 'answers', user } = this.story;
    if (user && !this.acted) {
      this.acted = true;
      if (user === 'delete') this.edit({ deletedAt: this.now });
      if (user === 'cancel') this.edit({ spec: { ...this.query?.spec, cancel: true } });
      if (user === 'remove finalizer') this.vanish();
      return true;
    }
    if (conduct === 'answers') this.close(uid, 'done');
    else if (conduct === 'fails')
      this.close(uid, 'error', { type: 'ModelUnauthorized', message: 'wrong key' });
    else if (conduct === 'waits for cancel' && run.cancelRequested) {
      this.close(uid, 'canceled', { type: 'RunCanceled', message: 'canceled' });
    }
    return run.closed !== undefined;
  }

  private close(id: string, phase: RunOutcome['phase'], failure?: Failure): void {
    const run = this.runs.get(id);
    if (!run || run.closed) return;
    const target = { type: 'agent', name: 'bot' } as const;
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3, modelCalls: 1, toolCalls: 0 };
    const content = phase === 'done' ? 'hello' : '';
    const response = { target, phase, content, ...(failure && { failure }) };
    run.closed = {
      at: new Date(run.startedAt.getTime() + 1_500),
      outcome: { phase, responses: [response], usage },
      ...(failure && { failure }),
    };
  }

  private lookAt(owner: RunOwner): Run {
    const run = this.runs.get(owner.uid);
    return run ? seen(run) : { state: 'absent' };
  }

  private follow(owner: RunOwner, run: Run): void {
    if (run.state === 'open') this.followed.add(owner.uid);
  }

  private vanish(): void {
    // Whoever removes an object by force takes the finalizer off first.
    if (this.query) this.gone.push({ ...this.query, held: false });
    this.query = undefined;
  }

  private async call<T>(effect: () => T): Promise<T> {
    const step = this.steps++;
    const lost = step === this.lostStep;
    if (lost && this.lostPart === 'request') throw new Error('the request was lost');
    const reply = effect();
    if (lost) throw new Error('the reply was lost');
    return reply;
  }
}

function seen(run: RunRecord): OpenRun | ClosedRun {
  const { runId, snapshotHash, startedAt, closed } = run;
  if (!closed) return { state: 'open', runId, startedAt, snapshotHash };
  return {
    state: 'closed',
    runId,
    startedAt,
    closedAt: closed.at,
    snapshotHash,
    outcome: closed.outcome,
    ...(closed.failure && { failure: closed.failure }),
  };
}

/** Reconciles, lets the world act, and lets time pass in steps of at most a minute, until nothing changes any more. */
export async function settle(world: World): Promise<World> {
  for (let pass = 0; pass < 200; pass++) {
    const before = JSON.stringify(world.state);
    try {
      const next = await reconcileQuery(key, world.ports);
      // Whatever changed would come back as a watch event.
      if (world.act() || JSON.stringify(world.state) !== before) continue;
      if (next === 'settled' || next.requeueAfterMs > 60_000) return world;
      world.now = new Date(world.now.getTime() + next.requeueAfterMs);
    } catch {
      // The queue calls again, with backoff.
    }
  }
  throw new Error('the world does not settle');
}
