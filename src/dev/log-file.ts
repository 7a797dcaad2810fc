import { closeSync, copyFileSync, existsSync, openSync, renameSync, statSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';

export type LogFile = {
  readonly path: string;
  /** For the stdio of a child; appends, so that several children in turn write one file. */
  readonly fd: number;
  close(): void;
};

/** With the previous file beside it, a log takes at most twice this. */
const logBytesMax = 64 * 1024 * 1024;
const lookEveryMs = 10_000;

/** Opens an empty log; what an earlier stack wrote there is kept once, as `<path>.1`. */
export function openLog(path: string): LogFile {
  if (existsSync(path)) renameSync(path, `${path}.1`);
  const fd = openSync(path, 'a', 0o600);

  // The child holds the file open, so it is emptied in place rather than renamed. Lines written between the copy and
  // the cut are lost, which a log of a development server can bear.
  const watch = setInterval(() => {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= logBytesMax) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  }, lookEveryMs).unref();

  return {
    path,
    fd,
    close() {
      clearInterval(watch);
      closeSync(fd);
    },
  };
}

const tailBytes = 16 * 1024;

/** The last lines of a log, for an error message. Empty if there is no such file. */
export async function lastLines(path: string, count = 15): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - tailBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, start);
    return buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n').slice(-count).join('\n');
  } finally {
    await file.close();
  }
}
