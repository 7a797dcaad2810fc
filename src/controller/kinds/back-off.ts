const firstMs = 5_000;
/** The longest that anything waits which failed. */
export const backOffMsMax = 10 * 60_000;

/** How long to wait after so many failures in a row: 5 seconds, then twice as long each time, to ten minutes. */
export const backOffMs = (failures: number): number =>
  Math.min(firstMs * 2 ** Math.min(failures - 1, 20), backOffMsMax);

/** How often what an object refers to is read again. */
export const recheckMs = 60_000;
