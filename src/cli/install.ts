import { Command, InvalidArgumentError } from 'commander';
import type { ApplyOutcome } from '../adapters/install/apply.ts';
import type { Manifest } from '../adapters/install/manifests.ts';
import { clusterAccess } from './cluster-access.ts';
import { addSettings, readSettings } from './settings.ts';
import { untilStopped } from './until-stopped.ts';

const names = ['kubeconfig', 'context'] as const;

interface Options {
  readonly tenant: readonly string[];
  readonly webhook?: boolean;
  readonly dryRun?: boolean;
  readonly print?: boolean;
}

/** `arkwright install`: resource definitions and rights, into the cluster that the kubeconfig points at. */
export function installCommand(program: string): Command {
  const command = new Command('install')
    .summary('put the resource definitions (CRDs) and rights (RBAC) into a cluster')
    .description(
      'Applies the resource definitions, the namespace arkwright-system and the roles of the controller and the worker, and ' +
        'waits until the API server serves them. May be repeated; says what happened to every object.',
    )
    .option(
      '--tenant <namespace>',
      'let Queries of this namespace read what they name there: agents, models, secrets …; repeat it for more, "all" is ' +
        'every namespace (otherwise: none; no environment variable)',
      addTenant,
      [],
    )
    .option(
      '--webhook',
      'also put in the Service and the rights of the admission webhook; the controller then needs --webhook service ' +
        '(default: false; no environment variable)',
    )
    .option(
      '--dry-run',
      'ask the API server what would happen, and change nothing (default: false; no environment variable)',
    )
    .option(
      '--print',
      'print the objects as YAML and contact nobody (default: false; no environment variable)',
    )
    .addHelpText(
      'after',
      `
Examples:
  ${program} install --tenant team-a --tenant team-b
  ${program} install --tenant all                  for a cluster of your own
  ${program} install --context staging --dry-run
  ${program} install --print | kubectl diff -f -
`,
    );
  addSettings(command, names);

  return command.action(async (_options, cmd: Command) => {
    const options = cmd.opts<Options>();
    if (options.print) return print(options);

    const access = await clusterAccess(readSettings(cmd, names));
    const [{ connectKubernetes }, { installInto }] = await Promise.all([
      import('../adapters/kubernetes/connection.ts'),
      import('../adapters/install/install-into.ts'),
    ]);
    const { dryRun = false, webhook = false, tenant: tenants } = options;
    const onObject = (object: Manifest, outcome: ApplyOutcome): void =>
      console.log(`${titleOf(object)} ${outcome}${dryRun ? ' (dry run)' : ''}`);

    await untilStopped(async (signal) => {
      const connection = connectKubernetes(access);
      try {
        await installInto(connection, { tenants, webhook, dryRun, onObject, signal });
      } finally {
        await connection.close();
      }
    });
  });
}

async function print({ tenant: tenants, webhook }: Options): Promise<void> {
  const [{ readCrds, readRights, readWebhook }, { stringify }] = await Promise.all([
    import('../adapters/install/manifests.ts'),
    import('yaml'),
  ]);
  const rights = [...(await readRights(tenants)), ...(webhook ? await readWebhook() : [])];
  const objects = [...(await readCrds()), ...rights];
  console.log(
    objects
      .map((object) => stringify(object))
      .join('---\n')
      .trimEnd(),
  );
}

function titleOf({ kind, metadata: { name, namespace } }: Manifest): string {
  return `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` in ${namespace}`}`;
}

function addTenant(name: string, before: readonly string[]): string[] {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    throw new InvalidArgumentError('Give the name of a namespace, or all.');
  }
  return [...before, name];
}
