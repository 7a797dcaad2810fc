/** The hard end; below the 60 s of `terminationGracePeriodSeconds` in deploy/, above the 25 s that calls get to finish. */
const stopWithinMs = 55_000;

/** Ctrl-C under `npm run` arrives twice, from the terminal and from npm; a person needs longer for a second one. */
const sameSignalMs = 500;

/**
 * Runs `work` with a signal that aborts at the first SIGTERM or SIGINT, and returns when it has stopped by itself.
 * A second signal ends the process at once (exit code 130), as does a stop that takes longer than 55 s (exit code 1).
 */
export async function untilStopped(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  let stoppingSinceMs = 0;
  const onSignal = (name: NodeJS.Signals): void => {
    if (stopping.signal.aborted) {
      if (performance.now() - stoppingSinceMs < sameSignalMs) return;
      process.exit(130);
    }
    stoppingSinceMs = performance.now();
    setTimeout(() => process.exit(1), stopWithinMs).unref();
    stopping.abort(new Error(`stopped by ${name}`));
  };

  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  try {
    await work(stopping.signal);
  } catch (error) {
    // The way out of a pending call at a stop is the reason of the stop; that is the end that was asked for.
    if (!stopping.signal.aborted || error !== stopping.signal.reason) throw error;
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  }
}
