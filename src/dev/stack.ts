import { builtArkwright } from './built.ts';
import { writeKubeconfig } from './credentials.ts';
import { assembleFleet, type Fleet } from './fleet.ts';
import { claimPlace } from './place.ts';
import { workersMax, type Ports } from './ports.ts';
import {
  healthPort,
  isArkwright,
  temporalNamespace,
  urls,
  workerName,
  type ArkwrightName,
  type ProcessName,
  type StackFacts,
} from './programs.ts';
import { findOrBuildServers, type ServerPaths } from './servers.ts';

export type { ProcessName } from './programs.ts';

export type StackOptions = {
  /** Holds all that the stack keeps: data, credentials, kubeconfig, logs. */
  readonly dir: string;
  readonly report: (line: string) => void;
  /** Removes what an earlier stack kept in `dir` first. */
  readonly fresh?: boolean;
  /** Asks for these ports and no others (see ports.ts). */
  readonly portOffset?: number;
  /** How many workers; 1 if not given. */
  readonly workers?: number;
  readonly without?: readonly ('controller' | 'worker' | 'broker')[];
  /** Puts CRDs and RBAC into the cluster: called once it is ready, before controller and workers start. */
  readonly install?: (kubeconfig: string) => Promise<void>;
  /** Found or built if not given. */
  readonly servers?: ServerPaths;
  /** Gives up a start that is under way. A stack that has started is ended by `stop`. */
  readonly signal?: AbortSignal;
};

export type Stack = {
  readonly dir: string;
  readonly servers: ServerPaths;
  readonly ports: Ports;
  readonly kubeconfig: string;
  readonly apiserverUrl: string;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly temporalUi: string;
  /** Keeps conversations and passes on streams, where the stack has a broker. */
  readonly brokerUrl: string;
  readonly processes: readonly ProcessName[];
  /** Undefined while it is down. */
  pid(name: ProcessName): number | undefined;
  logPath(name: ProcessName): string;
  healthUrl(name: ArkwrightName): string;
  /** Called whenever a process has started or ended. */
  onChange(listener: () => void): void;
  /**
   * Sends a signal, SIGKILL if not given, and resolves when the process has ended; it is then started again at once.
   * After SIGSTOP and SIGCONT, which a process survives, it resolves at once.
   */
  kill(name: ProcessName, signal?: NodeJS.Signals): Promise<void>;
  /** Stops a process in good order; it stays down until `restart`. */
  hold(name: ProcessName): Promise<void>;
  /** Stops a process in good order if it runs, starts it, and resolves when it is ready. */
  restart(name: ProcessName): Promise<void>;
  /** Resolves when the process does its work, for instance again after `kill`. */
  ready(name: ProcessName): Promise<void>;
  /** Resolves when everything has ended, each after those that depend on it. The state stays in `dir`. */
  stop(): Promise<void>;
};

/**
 * Boots etcd, the Kubernetes API server and its controllers, Temporal, and Arkwright's controller, broker and workers, all on
 * loopback, and resolves when every one of them is ready. Each is started again when it dies. All end with this
 * process, however that ends. A failed start leaves nothing running.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { report, signal } = options;
  const names = processNames(options);
  const servers = options.servers ?? (await findOrBuildServers({ report, ...(signal && { signal }) }));
  const arkwright = await builtArkwright(report);
  const place = await claimPlace(options);
  const facts = { ...place, servers, arkwright };
  const fleet = assembleFleet(names, facts);

  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= fleet.disband(stopOrder(names)).finally(() => place.release()));
  try {
    await boot(fleet, names, facts, options);
  } catch (error) {
    await stop();
    throw error;
  }
  return describe(fleet, names, facts, stop);
}

function processNames({ without = [], workers = 1 }: StackOptions): ProcessName[] {
  if (!Number.isInteger(workers) || workers < 1 || workers > workersMax) {
    throw new Error(`The number of workers must be a whole number from 1 to ${workersMax}, not ${workers}.`);
  }
  const workerNames = Array.from({ length: workers }, (_, index) => workerName(index));
  return [
    ...(['etcd', 'apiserver', 'controller-manager', 'temporal'] as const),
    ...(['controller', 'broker'] as const).filter((name) => !without.includes(name)),
    ...(without.includes('worker') ? [] : workerNames),
  ];
}

/** Who depends on others goes first. The API server would wait long for an etcd that is gone, so etcd goes last. */
const stopOrder = (names: readonly ProcessName[]): readonly (readonly ProcessName[])[] => [
  names.filter(isArkwright),
  ['temporal', 'controller-manager', 'apiserver'],
  ['etcd'],
];

async function boot(fleet: Fleet, names: readonly ProcessName[], facts: StackFacts, options: StackOptions) {
  const failed = new AbortController();
  const giveUp = options.signal ? AbortSignal.any([failed.signal, options.signal]) : failed.signal;

  /** Where one branch fails the others give up too, and only then does this end: nothing is still being started. */
  async function together(branches: readonly Promise<void>[]): Promise<void> {
    try {
      await Promise.all(branches);
    } catch (error) {
      failed.abort(error);
      await Promise.allSettled(branches);
      throw error;
    }
  }

  async function up(name: ProcessName): Promise<void> {
    const started = performance.now();
    await fleet.start(name, giveUp);
    options.report(`${name} is ready after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }

  async function cluster(): Promise<void> {
    await up('etcd');
    await up('apiserver');
    await writeKubeconfig(facts.kubeconfig, urls(facts.ports).apiserver, facts.credentials);
    await together([up('controller-manager'), options.install?.(facts.kubeconfig) ?? Promise.resolve()]);
  }

  await together([cluster(), up('temporal')]);
  await together(names.filter(isArkwright).map(up));
}

function describe(
  fleet: Fleet,
  names: readonly ProcessName[],
  facts: StackFacts,
  stop: () => Promise<void>,
): Stack {
  const { dir, servers, ports, kubeconfig } = facts;
  const { apiserver, temporal, temporalUi, broker } = urls(ports);
  return {
    dir,
    servers,
    ports,
    kubeconfig,
    apiserverUrl: apiserver,
    temporalAddress: temporal,
    temporalNamespace,
    temporalUi,
    brokerUrl: broker,
    processes: names,
    pid: (name) => fleet.pid(name),
    logPath: (name) => fleet.logPath(name),
    healthUrl: (name) => `http://127.0.0.1:${healthPort(name, ports)}`,
    onChange: (listener) => fleet.onChange(listener),
    kill: (name, signal = 'SIGKILL') => fleet.kill(name, signal),
    hold: (name) => fleet.stop(name),
    async restart(name) {
      await fleet.stop(name);
      await fleet.start(name);
    },
    ready: (name) => fleet.ready(name),
    stop,
  };
}
