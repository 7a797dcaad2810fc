import { join } from 'node:path';
import { lastLines, openLog, type LogFile } from './log-file.ts';
import { programFor, type ProcessName, type StackFacts } from './programs.ts';
import { isReady } from './readiness.ts';
import { supervise, type SupervisedProcess } from './supervise.ts';
import { waitUntil } from './wait-until.ts';
import { startWatchdog } from './watchdog.ts';

/** The processes of one stack, by name. Asking for a name that is not among them is an error that lists them. */
export type Fleet = {
  pid(name: ProcessName): number | undefined;
  logPath(name: ProcessName): string;
  onChange(listener: () => void): void;
  /** Resolves when it is ready. */
  start(name: ProcessName, giveUp?: AbortSignal): Promise<void>;
  ready(name: ProcessName, giveUp?: AbortSignal): Promise<void>;
  kill(name: ProcessName, signal: NodeJS.Signals): Promise<void>;
  stop(name: ProcessName): Promise<void>;
  /** Stops what still runs, wave after wave, and gives back all that the fleet held. */
  disband(waves: readonly (readonly ProcessName[])[]): Promise<void>;
};

/** A boot takes 5 s; this is for machines on which ten other things are being built at the same time. */
const readyWithinMs = 180_000;
/** A process that dies this often before it is ready will not get ready by itself. */
const deathsWhileStartingMax = 3;

type Member = { readonly log: LogFile; readonly process: SupervisedProcess };

/** Prepares every process with its log and its supervision; starts none. */
export function assembleFleet(names: readonly ProcessName[], facts: StackFacts): Fleet {
  const watchdog = startWatchdog();
  const listeners: (() => void)[] = [];
  const changed = () => listeners.forEach((listener) => listener());

  const members = new Map<ProcessName, Member>();
  for (const name of names) {
    const log = openLog(join(facts.logs, `${name}.log`));
    members.set(name, { log, process: supervise(programFor(name, facts), log, watchdog, changed) });
  }

  function member(name: ProcessName): Member {
    const found = members.get(name);
    if (!found) throw new Error(`This stack has no process ${name}, only ${names.join(', ')}.`);
    return found;
  }

  async function ready(name: ProcessName, giveUp?: AbortSignal): Promise<void> {
    const { process, log } = member(name);
    const deathsBefore = process.deaths;
    const isUp = () => {
      const deaths = process.deaths - deathsBefore;
      if (deaths >= deathsWhileStartingMax) throw new Error(`${name} ended ${deaths} times while starting`);
      return process.pid !== undefined && isReady(name, facts);
    };
    try {
      await waitUntil(isUp, { what: `${name} to be ready`, timeoutMs: readyWithinMs, signal: giveUp });
    } catch (error) {
      giveUp?.throwIfAborted();
      const said = `Its log, ${log.path}, ends with\n${await lastLines(log.path)}`;
      throw new Error(`${(error as Error).message}. ${said}`, { cause: error });
    }
  }

  return {
    pid: (name) => member(name).process.pid,
    logPath: (name) => member(name).log.path,
    onChange: (listener) => void listeners.push(listener),
    async start(name, giveUp) {
      giveUp?.throwIfAborted();
      await member(name).process.start();
      await ready(name, giveUp);
    },
    ready,
    kill: (name, signal) => member(name).process.kill(signal),
    stop: (name) => member(name).process.stop(),
    async disband(waves) {
      for (const wave of waves) await Promise.all(wave.map((name) => member(name).process.stop()));
      await watchdog.close();
      for (const { log } of members.values()) log.close();
    },
  };
}
