import { dirname, join } from 'node:path';
import type { Place } from './place.ts';
import type { Ports } from './ports.ts';
import type { ServerPaths } from './servers.ts';
import type { Program } from './supervise.ts';

export type WorkerName = 'worker' | `worker-${number}`;
export type ArkwrightName = 'controller' | 'broker' | WorkerName;
export type ProcessName = 'etcd' | 'apiserver' | 'controller-manager' | 'temporal' | ArkwrightName;

export const isArkwright = (name: ProcessName): name is ArkwrightName =>
  name === 'controller' || name === 'broker' || name === 'worker' || name.startsWith('worker-');

/** What is known of a stack before anything runs. */
export type StackFacts = Omit<Place, 'release'> & {
  readonly servers: ServerPaths;
  /** The path of the compiled `arkwright` command. */
  readonly arkwright: string;
};

/** `worker`, `worker-2`, `worker-3` … */
export const workerName = (index: number): WorkerName => (index === 0 ? 'worker' : `worker-${index + 1}`);
const workerIndex = (name: WorkerName) => (name === 'worker' ? 0 : Number(name.slice('worker-'.length)) - 1);

export function healthPort(name: ArkwrightName, ports: Ports): number {
  if (name === 'controller') return ports.controllerHealth;
  return name === 'broker' ? ports.brokerHealth : ports.workerHealth[workerIndex(name)]!;
}

export const urls = (ports: Ports) => ({
  etcd: local(ports.etcd),
  apiserver: `https://127.0.0.1:${ports.apiserver}`,
  temporal: `127.0.0.1:${ports.temporal}`,
  temporalUi: local(ports.temporalUi),
  broker: local(ports.broker),
});

const local = (port: number) => `http://127.0.0.1:${port}`;

export const temporalNamespace = 'default';

/** What is run under each name, and with which arguments. */
export function programFor(name: ProcessName, facts: StackFacts): Program {
  if (isArkwright(name)) return arkwright(name, facts);

  const { dir, servers } = facts;
  switch (name) {
    case 'etcd':
      return server(dir, servers.etcd, etcdFlags(facts));
    case 'apiserver':
      return server(dir, servers['kube-apiserver'], apiserverFlags(facts));
    case 'controller-manager':
      return server(dir, servers['kube-controller-manager'], controllerManagerFlags(facts));
    case 'temporal':
      return server(dir, servers.temporal, ['server', 'start-dev', ...temporalFlags(facts)]);
  }
}

const stopWithinMs = 10_000;

function server(dir: string, command: string, args: readonly string[]): Program {
  // A clean environment: what a developer has set for a real cluster or a real Temporal must not reach these.
  const { PATH, HOME, TMPDIR } = process.env;
  return { command, args, env: { PATH, HOME, TMPDIR }, cwd: dir, stopWithinMs };
}

/**
 * V8 lets its young generation grow to 48 MB a thread, and glibc keeps what is freed, in a heap for every few threads:
 * both stay in memory. The image has the same.
 */
const lean = '--max-semi-space-size=1';
const leanAllocator = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };

function arkwright(name: ArkwrightName, facts: StackFacts): Program {
  const { ports, kubeconfig, dir } = facts;
  const { temporal, temporalUi } = urls(ports);
  const subcommand = name.startsWith('worker') ? 'worker' : name;
  // A profile or an API key for another Temporal, or somebody's database, must not lead these there.
  const inherited = Object.entries(process.env).filter(
    ([variable]) => !variable.startsWith('TEMPORAL_') && variable !== 'DATABASE_URL',
  );
  return {
    command: process.execPath,
    args: [
      lean,
      facts.arkwright,
      subcommand,
      '--health-port',
      String(healthPort(name, ports)),
      ...(name === 'controller' ? webhookFlags(ports) : []),
      ...(name === 'broker' ? brokerFlags(facts) : []),
    ],
    env: {
      ...Object.fromEntries(inherited),
      ...leanAllocator,
      KUBECONFIG: kubeconfig,
      TEMPORAL_ADDRESS: temporal,
      TEMPORAL_NAMESPACE: temporalNamespace,
      ARKWRIGHT_TEMPORAL_UI: temporalUi,
      // The supervisor starts the next one when the last has ended, so it need not wait for that one's lease to run out.
      ARKWRIGHT_INSTANCE: name,
      // A third of a start is compiling; what was compiled goes when the build does.
      NODE_COMPILE_CACHE: join(dirname(facts.arkwright), '..', '..', 'compiled'),
      ENABLE_WEBHOOKS: 'true',
    },
    cwd: dir,
    stopWithinMs,
  };
}

/** While the controller is down, for instance because somebody wants to see what happens then, objects pass unchecked. */
const webhookFlags = ({ webhook }: Ports) => [
  '--webhook=url',
  '--webhook-host=127.0.0.1',
  `--webhook-port=${webhook}`,
  '--webhook-failure-policy=ignore',
];

const brokerFlags = ({ dir, ports }: StackFacts) => [
  '--host=127.0.0.1',
  `--port=${ports.broker}`,
  `--file=${join(dir, 'broker.db')}`,
];

/** An etcd that is given no room left refuses every write; the default of 2 GB is filled by a large benchmark. */
const etcdBytesMax = 8 * 1024 ** 3;

const etcdFlags = ({ dir, ports }: StackFacts) => [
  '--name=arkwright',
  `--data-dir=${join(dir, 'etcd')}`,
  `--listen-client-urls=${urls(ports).etcd}`,
  `--advertise-client-urls=${urls(ports).etcd}`,
  `--listen-peer-urls=${local(ports.etcdPeers)}`,
  `--initial-advertise-peer-urls=${local(ports.etcdPeers)}`,
  `--initial-cluster=arkwright=${local(ports.etcdPeers)}`,
  `--quota-backend-bytes=${etcdBytesMax}`,
  // Survives the death of every process here; only a power cut could lose something.
  '--unsafe-no-fsync',
  '--log-level=warn',
];

const apiserverFlags = ({ ports, credentials }: StackFacts) => [
  `--etcd-servers=${urls(ports).etcd}`,
  '--bind-address=127.0.0.1',
  `--secure-port=${ports.apiserver}`,
  `--cert-dir=${credentials.certificates}`,
  // Without it the API server looks for a default route, and does not start on a machine that is offline.
  '--advertise-address=127.0.0.1',
  // Nothing in this cluster reaches the API server through the Service `kubernetes`.
  '--endpoint-reconciler-type=none',
  `--token-auth-file=${credentials.tokens}`,
  '--authorization-mode=RBAC',
  `--service-account-key-file=${credentials.verifyingKey}`,
  `--service-account-signing-key-file=${credentials.signingKey}`,
  '--service-account-issuer=https://kubernetes.default.svc',
  '--service-cluster-ip-range=10.0.0.0/24',
  '--disable-admission-plugins=ServiceAccount',
];

/** Those parts of a real cluster that do not need nodes: namespaces end, owned objects are collected, accounts appear. */
const controllers = [
  'namespace-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'garbage-collector-controller',
  'clusterrole-aggregation-controller',
  'root-ca-certificate-publisher-controller',
];

const controllerManagerFlags = ({ kubeconfig, credentials }: StackFacts) => [
  `--kubeconfig=${kubeconfig}`,
  `--controllers=${controllers.join(',')}`,
  '--leader-elect=false',
  '--secure-port=0',
  '--use-service-account-credentials=false',
  `--service-account-private-key-file=${credentials.signingKey}`,
  `--root-ca-file=${join(credentials.certificates, 'apiserver.crt')}`,
];

/**
 * Each of these changes the speed of everything by up to ten times, measured: the journal doubles the server's CPU
 * time by default, the one history shard reads its queue 20 times a second, and timers under a second take a second.
 */
export const temporalSpeed = [
  '--sqlite-pragma=journal_mode=WAL',
  '--sqlite-pragma=synchronous=NORMAL',
  '--dynamic-config-value=history.transferProcessorMaxPollRPS=10000',
  '--dynamic-config-value=history.timerProcessorMaxTimeShift="10ms"',
  '--dynamic-config-value=system.enableActivityEagerExecution=true',
  '--dynamic-config-value=frontend.namespaceCount=20000',
] as const;

const temporalFlags = ({ dir, ports }: StackFacts) => [
  '--ip=127.0.0.1',
  `--port=${ports.temporal}`,
  `--ui-port=${ports.temporalUi}`,
  `--namespace=${temporalNamespace}`,
  `--db-filename=${join(dir, 'temporal.db')}`,
  ...temporalSpeed,
];
