import { CancellationScope, sleep } from '@temporalio/workflow';

/**
 * Runs `work` for at most `ms`; then cancels what it waits for and waits for it to end by itself, so that what was
 * answered by then is kept. `expired` says whether that happened.
 */
export async function underDeadline<T>(
  ms: number,
  summary: string,
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly expired: boolean }> {
  const working = new CancellationScope();
  const clock = new CancellationScope();
  let expired = false;

  const timer = clock
    .run(() => sleep(Math.max(ms, 1), { summary }))
    .then(
      () => {
        expired = true;
        working.cancel();
      },
      () => undefined, // the work was done first, or the whole run is being cancelled
    );
  try {
    return { value: await working.run(work), expired };
  } finally {
    clock.cancel();
    await timer;
  }
}
