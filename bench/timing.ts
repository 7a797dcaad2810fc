/** Milliseconds that each of `count` runs took, one after the other, in their order. */
export async function timed(count: number, run: (n: number) => Promise<unknown>): Promise<number[]> {
  const ms: number[] = [];
  for (let n = 0; n < count; n++) {
    const startedMs = performance.now();
    await run(n);
    ms.push(performance.now() - startedMs);
  }
  return ms;
}

const lanes = 16;

/** Does the work for every name, sixteen at a time. */
export async function allAtOnce(
  names: readonly string[],
  work: (name: string) => Promise<unknown>,
): Promise<void> {
  const queue = names.values();
  const lane = async (): Promise<void> => {
    for (const name of queue) await work(name);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** The value below which `share` of the values lie, to a tenth; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
}
