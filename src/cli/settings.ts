import { isIP } from 'node:net';
import { Option, type Command } from 'commander';
import { logLevels } from '../adapters/telemetry/log-levels.ts';

/** What the user typed cannot be used. The message is one sentence and says what to do; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Setting {
  /** What stands after the flag in the help, e.g. `<port>`. */
  readonly value: string;
  readonly env: string;
  readonly says: string;
  /** As somebody would type it. */
  readonly default?: string;
  /** In the help, where the default is not a text but a rule. */
  readonly otherwise?: string;
  /** Undefined for what cannot be used. Without zod: a worker has no other use for it, and it takes 8 MB. */
  readonly parse: (typed: string) => unknown;
  /** Completes the sentence `--flag (ENV) is "…"; give …`. */
  readonly give: string;
  /** Its value may hold a password and is shown nowhere. */
  readonly isSecret?: boolean;
}

const whole = (min: number, max: number) => ({
  parse: (typed: string): number | undefined =>
    /^\d{1,9}$/.test(typed) && Number(typed) >= min && Number(typed) <= max ? Number(typed) : undefined,
});
const oneOf = <const Word extends string>(words: readonly Word[]) => ({
  parse: (typed: string): Word | undefined => words.find((word) => word === typed),
});
const matching = (pattern: RegExp) => ({
  parse: (typed: string): string | undefined => (pattern.test(typed) ? typed : undefined),
});
const url = (protocol: RegExp) => ({
  parse: (typed: string): string | undefined =>
    protocol.test(URL.parse(typed)?.protocol ?? '') ? typed : undefined,
});
const count = (max: number) => ({ ...whole(1, max), give: `a whole number between 1 and ${max}` });
const port = {
  value: '<port>',
  ...whole(0, 65_535),
  give: 'a port between 0 and 65535 (0: any free one)',
};
const address = {
  value: '<address>',
  default: '0.0.0.0',
  parse: (typed: string): string | undefined => (typed === 'localhost' || isIP(typed) ? typed : undefined),
  give: 'an IP address of this machine, such as 127.0.0.1',
};
const text = { ...matching(/./), give: 'a text that is not empty' };
const dnsLabel = {
  ...matching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/),
  give: 'a name of lower-case letters, digits and dashes, at most 63 long',
};

/** Every setting of every command: its flag is its name with dashes, and an environment variable says the same. */
export const settings = {
  kubeconfig: {
    value: '<file>',
    env: 'KUBECONFIG',
    says: 'how to reach Kubernetes',
    otherwise: "~/.kube/config, or inside a cluster the pod's service account",
    ...text,
  },
  context: {
    value: '<name>',
    env: 'ARKWRIGHT_CONTEXT',
    says: 'which context of the kubeconfig to use',
    otherwise: "the kubeconfig's current context",
    ...text,
  },
  temporalAddress: {
    value: '<host:port>',
    env: 'TEMPORAL_ADDRESS',
    says: "the Temporal server's gRPC address",
    otherwise: "the Temporal profile's, or localhost:7233",
    ...matching(/^[^\s/]+:\d{1,5}$/),
    give: 'host and port, such as temporal.example.com:7233, without http://',
  },
  temporalNamespace: {
    value: '<name>',
    env: 'TEMPORAL_NAMESPACE',
    says: 'the Temporal namespace the runs live in',
    otherwise: "the Temporal profile's, or default",
    ...text,
  },
  temporalUi: {
    value: '<url>',
    env: 'ARKWRIGHT_TEMPORAL_UI',
    says: "the Temporal Web UI, for the links in a Query's status",
    otherwise: 'no links',
    ...url(/^https?:$/),
    give: 'an address that begins with http:// or https://',
  },
  taskQueue: {
    value: '<name>',
    env: 'ARKWRIGHT_TASK_QUEUE',
    says: 'the Temporal task queue; the same for the controller and its workers',
    default: 'arkwright',
    ...matching(/^.{1,200}$/),
    give: 'a name of 1 to 200 characters',
  },
  namespace: {
    value: '<name>',
    env: 'ARKWRIGHT_NAMESPACE',
    says: 'the Kubernetes namespace of Arkwright itself, where its lease is held',
    default: 'arkwright-system',
    ...dnsLabel,
  },
  leaderElection: {
    value: '<true|false>',
    env: 'ARKWRIGHT_LEADER_ELECTION',
    says: 'let one of several controllers act, by a Kubernetes lease',
    default: 'true',
    parse: (typed: string) => (typed === 'true' || typed === 'false' ? typed === 'true' : undefined),
    give: 'true or false',
  },
  webhook: {
    value: '<off|service|url>',
    env: 'ARKWRIGHT_WEBHOOK',
    says: 'have the API server ask about every ARK object before it takes it, by the Service of "install --webhook" or at host and port',
    default: 'off',
    ...oneOf(['off', 'service', 'url']),
    give: 'off, service or url',
  },
  webhookHost: {
    value: '<address>',
    env: 'ARKWRIGHT_WEBHOOK_HOST',
    says: 'where the webhook listens; with "url" the API server must reach it there',
    otherwise: '0.0.0.0 with "service", 127.0.0.1 with "url"',
    parse: address.parse,
    give: address.give,
  },
  webhookPort: {
    ...port,
    env: 'ARKWRIGHT_WEBHOOK_PORT',
    says: 'the port of the webhook',
    default: '9443',
  },
  webhookFailurePolicy: {
    value: '<fail|ignore>',
    env: 'ARKWRIGHT_WEBHOOK_FAILURE_POLICY',
    says: 'what becomes of a write when the webhook does not answer: refused, or taken unchecked',
    default: 'fail',
    ...oneOf(['fail', 'ignore']),
    give: 'fail or ignore',
  },
  toolRounds: {
    value: '<number>',
    env: 'ARKWRIGHT_TOOL_ROUNDS',
    says: 'model calls one agent may make in one turn',
    default: '50',
    ...count(1000),
  },
  turns: {
    value: '<number>',
    env: 'ARKWRIGHT_TURNS',
    says: 'turns of a team that sets no maxTurns of its own',
    default: '100',
    ...count(10_000),
  },
  concurrency: {
    value: '<number>',
    env: 'ARKWRIGHT_CONCURRENCY',
    says: 'targets of one Query, or members of one parallel team, that speak at the same time',
    default: '20',
    ...count(200),
  },
  maxCachedWorkflows: {
    value: '<number>',
    env: 'ARKWRIGHT_MAX_CACHED_WORKFLOWS',
    says: 'runs one worker keeps in memory, about 1 MB each; more than that are replayed again and again',
    default: '500',
    ...count(20_000),
  },
  maxConcurrentCalls: {
    value: '<number>',
    env: 'ARKWRIGHT_MAX_CONCURRENT_CALLS',
    says: 'model and tool calls one worker makes at the same time',
    default: '1000',
    ...count(10_000),
  },
  events: {
    value: '<which>',
    env: 'ARKWRIGHT_EVENTS',
    says: 'Kubernetes Events that tell what Queries are doing: all, errors or none',
    default: 'all',
    ...oneOf(['all', 'errors', 'none']),
    give: 'all, errors or none',
  },
  portOffset: {
    value: '<number>',
    env: 'ARKWRIGHT_PORT_OFFSET',
    says: 'which block of loopback ports to take, so that several stacks keep theirs',
    otherwise: 'the first that is free',
    ...whole(0, 99),
    give: 'a whole number between 0 and 99',
  },
  dir: {
    value: '<folder>',
    env: 'ARKWRIGHT_DEV_DIR',
    says: 'where the stack keeps its state, its logs and the file to source',
    default: '.arkwright/dev',
    ...text,
  },
  host: {
    ...address,
    env: 'ARKWRIGHT_BROKER_HOST',
    says: 'where memories and streams are served',
  },
  port: {
    ...port,
    env: 'ARKWRIGHT_BROKER_PORT',
    says: 'the port memories and streams are served on',
    default: '8080',
  },
  file: {
    value: '<file>',
    env: 'ARKWRIGHT_BROKER_FILE',
    says: 'the SQLite file that keeps the conversations, where no database is given',
    default: '.arkwright/broker.db',
    ...text,
  },
  databaseUrl: {
    value: '<url>',
    env: 'DATABASE_URL',
    says: 'the PostgreSQL database that keeps the conversations; needed to run more than one broker',
    otherwise: 'the file',
    ...url(/^postgres(ql)?:$/),
    give: 'an address such as postgresql://user:password@host:5432/database',
    isSecret: true,
  },
  healthHost: {
    ...address,
    env: 'ARKWRIGHT_HEALTH_HOST',
    says: 'where /healthz, /readyz and /metrics listen',
  },
  healthPort: {
    ...port,
    env: 'ARKWRIGHT_HEALTH_PORT',
    says: 'the port of /healthz, /readyz and /metrics',
    default: '8081',
  },
  logLevel: {
    value: '<level>',
    env: 'ARKWRIGHT_LOG_LEVEL',
    says: `how much to log: ${logLevels.join(', ')}`,
    default: 'info',
    ...oneOf(logLevels),
    give: `one of ${logLevels.join(', ')}`,
  },
} as const satisfies Record<string, Setting>;

/** What every process of a cluster has. */
export const processSettings = [
  'healthHost',
  'healthPort',
  'logLevel',
] as const satisfies readonly SettingName[];

export type SettingName = keyof typeof settings;
export type Settings<Name extends SettingName> = {
  readonly [N in Name]: (typeof settings)[N] extends { default: string }
    ? NonNullable<ReturnType<(typeof settings)[N]['parse']>>
    : ReturnType<(typeof settings)[N]['parse']>;
};

/** Gives the command these flags, each with its environment variable and default in the help. */
export function addSettings(
  command: Command,
  names: readonly SettingName[],
  defaults: Partial<Record<SettingName, string>> = {},
): void {
  for (const name of names) {
    const setting: Setting = settings[name];
    const says = setting.otherwise ? `${setting.says} (otherwise: ${setting.otherwise})` : setting.says;
    const option = new Option(`${flagOf(name)} ${setting.value}`, says).env(setting.env);
    const fallback = defaults[name] ?? setting.default;
    command.addOption(fallback === undefined ? option : option.default(fallback));
  }
}

/** The command's settings as values; throws a `UsageError` about the first one that cannot be used. */
export function readSettings<Name extends SettingName>(
  command: Command,
  names: readonly Name[],
): Settings<Name> {
  const typed = command.opts<Partial<Record<SettingName, string>>>();
  const entries = names.map((name) => [name, read(name, typed[name])]);
  return Object.fromEntries(entries) as Settings<Name>;
}

function read(name: SettingName, typed = ''): unknown {
  const setting: Setting = settings[name];
  // In a manifest, an empty variable is how one says "not set".
  const given = typed === '' ? setting.default : typed;
  if (given === undefined) return undefined;

  const value = setting.parse(given);
  if (value !== undefined) return value;
  const problem = setting.isSecret ? 'cannot be used' : `is ${JSON.stringify(given)}`;
  throw new UsageError(`${flagOf(name)} (${setting.env}) ${problem}; give ${setting.give}.`);
}

const flagOf = (name: SettingName): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
