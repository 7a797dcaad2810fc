/** The value below which `share` of the sorted values lie, to a tenth; 0 of none. */
export function quantile(sorted: readonly number[], share: number): number {
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
}
