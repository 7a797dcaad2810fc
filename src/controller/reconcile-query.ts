import { expiryOf, isFinished } from './lifetime.ts';
import type { Built, ControllerPorts, Next, ObjectKey, Refusal, Run, SeenQuery } from './ports.ts';
import { statusOf } from './status.ts';
import type { Standing } from './status.ts';

/** How long a run may take to end by itself once its Query is being deleted. */
const graceMs = 10_000;
/** How long a Query waits for what it names or selects: `kubectl apply -f folder` may create the Query first. */
const patienceMs = 5_000;
const patienceStepMs = 250;
/** A run that is over sooner is written once, with its end: two of three writes to the API server would tell of a moment. */
const quietMs = 500;
/** Timers further away than this are set again on the way. */
const timerMsMax = 6 * 3_600_000;

/**
 * Makes one Query true: a workflow runs for it, and its status says what that workflow says.
 *
 * Level-based. It learns which object, never what happened to it, and may be called at any moment and any number of
 * times: the workflow's id holds the Query's uid, so starting twice is starting once. It never waits for a run; the
 * run watcher calls again when there is something to see. Rejects only for what a later call may find healed.
 */
export async function reconcileQuery(key: ObjectKey, ports: ControllerPorts): Promise<Next> {
  await endRunsOfVanished(key, ports);

  const query = ports.queries.get(key);
  if (!query) return 'settled';
  if (query.deletedAt) return letGo(query, query.deletedAt, ports);
  // Temporal forgets closed workflows after its retention period; without this line an old, answered Query would
  // then be asked again. It also makes `canceled` and `done` final, whatever `spec.cancel` says later.
  if (isFinished(query.status)) return keepUntilExpiry(query, ports);

  const isBegun = query.status.temporal !== undefined || ports.runs.isFollowed(query);
  const standing = await (isBegun ? follow(query, ports) : begin(query, ports));
  if (standing === 'gone') return 'settled';
  if (standing === 'waiting') return { requeueAfterMs: patienceStepMs };

  const quietForMs = untoldFor(query, standing, ports);
  if (quietForMs > 0) return { requeueAfterMs: quietForMs };
  if (query.spec.cancel && standing.state === 'open') await ports.runs.cancel(query);
  await ports.queries.writeStatus(query, statusOf(query, standing, ports));
  return standing.state === 'open' ? 'settled' : keepUntilExpiry(query, ports);
}

/** The finalizer may have been taken off by force meanwhile. */
const follow = async (query: SeenQuery, { queries, runs }: ControllerPorts): Promise<Standing | 'gone'> =>
  (await queries.hold(query)) ? runs.look(query) : 'gone';

/** Finalizer, then the run: an object that can vanish must not have a run that nobody ends. */
async function begin(query: SeenQuery, ports: ControllerPorts): Promise<Standing | 'gone' | 'waiting'> {
  const { queries, runs, snapshots } = ports;
  if (query.spec.cancel)
    return (await queries.hold(query)) ? startedBefore(query, ports, { state: 'canceled' }) : 'gone';

  const [held, built] = await Promise.all([queries.hold(query), snapshots.build(query)]);
  if (!held) return 'gone';
  if (isEarly(built) && ageMs(query, ports) < patienceMs) return 'waiting';
  if ('snapshot' in built) return runs.start(query, built.snapshot, built.hash);

  return startedBefore(query, ports, refused(built));
}

/** Something it names is not there yet, or nothing that its selector matches: an Agent may be discovered in a moment. */
const isEarly = (built: Built): boolean =>
  'snapshot' in built ? built.snapshot.targets.length === 0 : built.missing === true;

/** How much longer nothing is said of a run that has just begun. */
function untoldFor({ spec, status }: SeenQuery, standing: Standing, { now }: ControllerPorts): number {
  if (standing.state !== 'open' || status.phase || spec.cancel) return 0;
  const ageMs = now().getTime() - standing.startedAt.getTime();
  // The start may be Temporal's time: where its clock is ahead of ours, nobody waits for that.
  return ageMs < 0 ? 0 : quietMs - ageMs;
}

/** A start whose reply was lost has happened: what changed since then must not hide its run. */
async function startedBefore(
  query: SeenQuery,
  { runs }: ControllerPorts,
  otherwise: Standing,
): Promise<Standing> {
  const run: Run = await runs.look(query);
  return run.state === 'absent' ? otherwise : run;
}

const refused = ({ failure }: Refusal): Standing => ({ state: 'refused', failure });

const ageMs = ({ createdAt }: SeenQuery, { now }: ControllerPorts): number =>
  now().getTime() - createdAt.getTime();

/** Cancel, a short wait, terminate, and only then the finalizer. */
async function letGo(query: SeenQuery, deletedAt: Date, ports: ControllerPorts): Promise<Next> {
  const { queries, runs, now } = ports;
  if (!query.held) return 'settled';

  if (!isFinished(query.status) && (await runs.look(query)).state === 'open') {
    const leftMs = Math.min(graceMs, deletedAt.getTime() + graceMs - now().getTime());
    if (leftMs > 0) {
      await runs.cancel(query);
      return { requeueAfterMs: leftMs };
    }
    await runs.terminate(
      query,
      `its Query was deleted, and it did not end within ${graceMs / 1000} s of being canceled`,
    );
  }

  await queries.release(query);
  runs.forget(query);
  return 'settled';
}

/** An object whose finalizer was removed by force leaves a run behind. */
async function endRunsOfVanished(key: ObjectKey, { queries, runs }: ControllerPorts): Promise<void> {
  for (const query of queries.vanished(key)) {
    if (!isFinished(query.status)) await runs.cancel(query);
    runs.forget(query);
    queries.forgetVanished(query);
  }
}

async function keepUntilExpiry(query: SeenQuery, { queries, runs, now }: ControllerPorts): Promise<Next> {
  runs.forget(query);
  const leftMs = expiryOf(query).getTime() - now().getTime();
  if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, timerMsMax) };

  await queries.remove(query);
  return 'settled';
}
