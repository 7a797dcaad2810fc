import type { Logger } from '../adapters/telemetry/logger.ts';
import type { ControllerMetrics } from '../adapters/telemetry/metrics.ts';
import type { ControllerPorts, Next } from './ports.ts';
import type { RunWatcher } from './run-watcher.ts';
import { whenFinished } from './when-finished.ts';
import type { WorkQueue } from './work-queue.ts';

const showEveryMs = 5_000;
const reportEveryMs = 1_000;

/** The same work, with its time and its end counted. */
export const measured =
  ({ reconciles, reconcileSeconds }: ControllerMetrics, kind: string, work: (key: string) => Promise<Next>) =>
  async (key: string): Promise<Next> => {
    const stop = reconcileSeconds.startTimer({ kind });
    let outcome = 'failed';
    try {
      const next = await work(key);
      outcome = next === 'settled' ? 'settled' : 'requeued';
      return next;
    } finally {
      stop();
      reconciles.inc({ kind, outcome });
    }
  };

/** The same ports, with starts and ends counted. */
export function counted(
  ports: ControllerPorts,
  { runsStarted, queriesFinished }: ControllerMetrics,
): ControllerPorts {
  const { runs } = ports;
  const withStarts: ControllerPorts = {
    ...ports,
    runs: {
      ...runs,
      async start(...args) {
        const run = await runs.start(...args);
        runsStarted.inc();
        return run;
      },
    },
  };
  return whenFinished(withStarts, (_query, { phase }) => queriesFinished.inc({ phase }));
}

/** Shows the state of queue and watcher in the gauges until it is called again. */
export function showState(metrics: ControllerMetrics, queue: WorkQueue, watcher: RunWatcher): () => void {
  const timer = setInterval(() => {
    metrics.queueDepth.set({ kind: 'Query' }, queue.state().waiting);
    const { followed, longPolled } = watcher.counts;
    metrics.runsWatched.set({ way: 'poll' }, longPolled);
    metrics.runsWatched.set({ way: 'describe' }, followed - longPolled);
  }, showEveryMs);
  return () => clearInterval(timer);
}

/** Warns of failed looks once a second at most: an outage fails thousands of objects for the same reason. */
export function reportFailures(
  logger: Logger,
  kind: string,
): (key: string, error: unknown, waitMs: number) => void {
  let quietUntilMs = 0;
  let untold = 0;
  return (key, err, waitMs) => {
    if (Date.now() < quietUntilMs) {
      untold++;
      return;
    }
    quietUntilMs = Date.now() + reportEveryMs;
    logger.warn(
      {
        [kind.toLowerCase()]: key,
        err,
        retryInMs: Math.round(waitMs),
        ...(untold > 0 && { othersSinceLast: untold }),
      },
      `a ${kind} could not be looked at`,
    );
    untold = 0;
  };
}
