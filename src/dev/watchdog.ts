import { spawn, type ChildProcess } from 'node:child_process';

export type Watchdog = {
  readonly pid: number | undefined;
  /** Once this resolves, the process group of `pid` does not outlive us. */
  guard(pid: number): Promise<void>;
  forget(pid: number): void;
  /** Ends the watchdog, and with it whatever is still guarded. */
  close(): Promise<void>;
};

/**
 * Reads `+ pid` and `- pid` until its input ends, which it does when the parent is gone, in whatever way. Then it kills
 * the process groups it knows, the newest first: who depends on a server was started after it. SIGKILL, because nobody
 * is left to wait for a graceful end, and everything here survives one.
 *
 * A shell and not Node: it takes 1 MB instead of 40 and is there in a millisecond.
 */
const script = `
pids=
while read -r sign pid; do
  case $sign in
    +) pids="$pid $pids" ;;
    -) left=
       for p in $pids; do [ "$p" = "$pid" ] || left="$left $p"; done
       pids=$left ;;
  esac
done
for pid in $pids; do kill -9 -"$pid" 2>/dev/null; done
`;

/** A watchdog that is killed is replaced; one that cannot live at all must not be started for ever. */
const replacementsMax = 100;

/** Starts the process that ends our children when we can no longer do so, even after a SIGKILL. */
export function startWatchdog(): Watchdog {
  const guarded = new Set<number>();
  let closing = false;
  let replacements = 0;
  let dog = launch();

  function launch(): ChildProcess {
    // A session of its own: a Ctrl-C in the terminal is for the parent, which then stops everything in order.
    const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    child.on('error', () => undefined); // 'close' follows and decides
    child.stdin.on('error', () => undefined); // it died while being told something; its replacement is told all
    child.once('close', () => {
      if (closing || replacements >= replacementsMax) return;
      replacements += 1;
      dog = launch();
    });
    for (const pid of guarded) child.stdin.write(`+ ${pid}\n`);
    return child;
  }

  const tell = (line: string) => new Promise<void>((told) => dog.stdin?.write(line, () => told()) ?? told());

  return {
    get pid() {
      return dog.pid;
    },
    guard(pid) {
      guarded.add(pid);
      return tell(`+ ${pid}\n`);
    },
    forget(pid) {
      guarded.delete(pid);
      void tell(`- ${pid}\n`);
    },
    async close() {
      closing = true;
      if (dog.exitCode !== null || dog.signalCode !== null) return;
      const closed = new Promise((resolve) => dog.once('close', resolve));
      dog.stdin?.end();
      await closed;
    },
  };
}
