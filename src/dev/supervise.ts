import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { LogFile } from './log-file.ts';
import type { Watchdog } from './watchdog.ts';

export type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** How long it may take to end after SIGTERM, before SIGKILL. */
  readonly stopWithinMs: number;
};

export type SupervisedProcess = {
  /** Undefined while it is down. */
  readonly pid: number | undefined;
  /** How often it has ended without being asked to. */
  readonly deaths: number;
  /**
   * Resolves when the process that was running has ended; it is then started again. A signal that a process survives
   * (to freeze and thaw it) is only sent.
   */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Resolves when it is down; it stays down until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
};

/** The first restart is immediate; a process that keeps dying young is started ever more slowly, but always again. */
const backoffMs = [0, 250, 500, 1_000, 2_000] as const;
const youngMs = 2_000;

const survived: ReadonlySet<NodeJS.Signals> = new Set(['SIGSTOP', 'SIGCONT']);

/**
 * Keeps a program running, as a cluster would: when it dies, it is started again with the same arguments and so on the
 * same ports. It never outlives this process (watchdog). `changed` is called after every start and every end.
 */
export function supervise(
  program: Program,
  log: LogFile,
  watchdog: Watchdog,
  changed: () => void,
): SupervisedProcess {
  let wanted = false;
  let running: ChildProcess | undefined;
  let deaths = 0;
  let youngDeaths = 0;
  let restart: NodeJS.Timeout | undefined;

  async function launch(): Promise<void> {
    const startedAt = performance.now();
    const child = behindGate(program, log.fd);
    running = child;
    child.once('close', () => {
      if (child.pid !== undefined) watchdog.forget(child.pid);
      running = undefined;
      if (wanted) {
        deaths += 1;
        youngDeaths = performance.now() - startedAt < youngMs ? youngDeaths + 1 : 0;
        restart = setTimeout(() => void launch(), backoffMs[Math.min(youngDeaths, backoffMs.length - 1)]);
      }
      changed();
    });
    if (child.pid === undefined) return;

    await watchdog.guard(child.pid);
    child.stdin?.end('go\n');
    changed();
  }

  return {
    get pid() {
      return running?.pid;
    },
    get deaths() {
      return deaths;
    },
    async start() {
      if (wanted) return;
      wanted = true;
      await launch();
    },
    async kill(signal) {
      const child = running;
      if (!child) return;
      if (survived.has(signal)) return void child.kill(signal);
      const closed = once(child, 'close');
      child.kill(signal);
      await closed;
    },
    async stop() {
      wanted = false;
      clearTimeout(restart);
      const child = running;
      if (!child) return;

      const closed = once(child, 'close');
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), program.stopWithinMs);
      await closed;
      clearTimeout(force);
    },
  };
}

/**
 * Starts a shell that waits for one line before it becomes the program, with the same pid. The line is sent when the
 * watchdog knows the pid: were we killed in between, the shell reads the end of its input and never becomes anything.
 * The program itself gets no pipe from us: only files, which cannot block it.
 */
function behindGate({ command, args, env, cwd }: Program, logFd: number): ChildProcess {
  const gate = ['-c', 'read -r go && exec "$@" </dev/null', 'gate', command, ...args];
  // A group of its own, so that Ctrl-C in the terminal reaches us alone and the watchdog can kill descendants too.
  const child = spawn('/bin/sh', gate, { env, cwd, detached: true, stdio: ['pipe', logFd, logFd] });
  child.on('error', () => undefined); // 'close' follows and leads to the next attempt
  child.stdin?.on('error', () => undefined); // killed before it read the line: the same
  return child;
}
