import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import type { LogLevel } from './log-levels.ts';

export type { Logger } from 'pino';

/** Field names whose content never reaches a log, however deep in a logged object they lie (at most `depthMax`). */
const secretFields = [
  'apiKey',
  'api_key',
  'api-key',
  'authorization',
  'Authorization',
  'headers',
  'password',
  'secret',
  'stringData',
  'token',
  'value',
];
const depthMax = 5;

/**
 * A logger that writes one JSON object a line, or one readable line an entry where a person is looking (a terminal).
 * Secrets are removed by field name as a second fence; the first is that nobody logs them.
 */
export function createLogger(options: {
  readonly level: LogLevel;
  /** Names the process in every line: `controller`, `worker`, `dev`. */
  readonly name: string;
  readonly pretty?: boolean;
  readonly destination?: DestinationStream;
}): Logger {
  const { level, name, pretty = process.stdout.isTTY, destination = process.stdout } = options;
  return pino(
    {
      level,
      base: { process: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: everyDepth(secretFields), censor: '[removed]' },
    },
    pretty ? { write: (line) => void destination.write(readableLine(line)) } : destination,
  );
}

function everyDepth(fields: readonly string[]): string[] {
  const prefixes = Array.from({ length: depthMax }, (_, depth) => '*'.repeat(depth).split('').join('.'));
  return prefixes.flatMap((prefix) =>
    fields.map((field) => (prefix === '' ? `["${field}"]` : `${prefix}["${field}"]`)),
  );
}

/** `12:03:04 WARN  controller: cannot reach Temporal  query=default/hello attempt=3` */
function readableLine(line: string): string {
  const { level, time, process: name, msg = '', ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${readable(value)}`);
  const clock = String(time).slice('2026-01-01T'.length, '2026-01-01T00:00:00'.length);
  return `${[clock, String(level).toUpperCase().padEnd(5), `${String(name)}:`, String(msg).replace(/\s+/g, ' '), ...rest].join(' ')}\n`;
}

function readable(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  // An error's stack would break the line; its type and message are what a person looks for first.
  const { type, message } = (value ?? {}) as { type?: unknown; message?: unknown };
  return typeof message === 'string' ? JSON.stringify(`${String(type)}: ${message}`) : JSON.stringify(value);
}
