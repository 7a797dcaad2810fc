/** From the most to the least. Apart from the logger, so that a help text can name them without loading it. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
