import { resolve } from 'node:path';
import { Command } from 'commander';
import { addSettings, readSettings } from './settings.ts';
import { untilStopped } from './until-stopped.ts';

const names = ['portOffset', 'dir'] as const;

/** `arkwright dev`: everything on this machine, until Ctrl-C. */
export function devCommand(program: string): Command {
  const command = new Command('dev')
    .summary('run everything on this machine, for kubectl from another terminal')
    .description(
      'Boots etcd, kube-apiserver, Temporal with its Web UI, a scripted model, a controller, a worker and a broker on free loopback ' +
        'ports, installs the resource definitions, and keeps all of it running until Ctrl-C. A process that dies is started ' +
        'again, as a cluster would. When everything is ready, <dir>/env can be sourced: KUBECONFIG, TEMPORAL_ADDRESS, …',
    )
    .option(
      '--fresh',
      'start empty, instead of where the last stack in this folder stopped (default: false; no environment variable)',
    )
    .addHelpText(
      'after',
      `
With OPENAI_API_KEY (and OPENAI_BASE_URL) set, the samples talk to the real model instead of the scripted one.

Examples:
  ${program} dev
  . .arkwright/dev/env && kubectl apply -f samples/01-agent.yaml          in another terminal
  ${program} dev --dir .arkwright/second --port-offset 1                  a second stack beside it
`,
    );
  addSettings(command, names);

  return command.action(async (_options, cmd: Command) => {
    const { fresh = false } = cmd.opts<{ fresh?: boolean }>();
    const { portOffset, dir } = readSettings(cmd, names);
    await untilStopped((signal) => runWithSamples({ dir: resolve(dir), fresh, portOffset }, signal));
  });
}

async function runWithSamples(
  stack: { readonly dir: string; readonly fresh: boolean; readonly portOffset: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const [{ runDev }, { introduceSamples, sampleCompanions }, { installForDevelopment }] = await Promise.all([
    import('../dev/dev.ts'),
    import('../dev/sample-companions.ts'),
    import('./install-for-development.ts'),
  ]);
  const settings = {
    ...stack,
    report: (line: string) => console.log(line),
    install: installForDevelopment,
    companions: sampleCompanions(stack.portOffset),
    introduce: introduceSamples,
  };
  await runDev(settings, signal);
}
