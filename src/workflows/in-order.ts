/**
 * Runs `work` for every item, at most `concurrency` at a time, and returns the results in the items' order.
 * When one rejects, no further item is begun and the whole rejects once those under way have ended.
 */
export async function inOrder<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();

  let stopped = false;

  const lane = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (stopped) return;
      try {
        results[index] = await work(item, index);
      } catch (error) {
        stopped = true;
        throw error;
      }
    }
  };

  const lanes = Array.from({ length: Math.min(concurrency, items.length) }, lane);
  const rejected = (await Promise.allSettled(lanes)).find((end) => end.status === 'rejected');
  if (rejected) throw rejected.reason;
  return results;
}
