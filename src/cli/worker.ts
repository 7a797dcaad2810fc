import { Command } from 'commander';
import { clusterAccess } from './cluster-access.ts';
import { addSettings, processSettings, readSettings } from './settings.ts';
import { temporalAccess, temporalHelp } from './temporal-access.ts';

const names = [
  ...(['kubeconfig', 'context', 'temporalAddress', 'temporalNamespace', 'taskQueue'] as const),
  ...(['maxCachedWorkflows', 'maxConcurrentCalls', 'events'] as const),
  ...processSettings,
] as const;

/** `arkwright worker`: decides what runs do next, and makes their model and tool calls. */
export function workerCommand(program: string): Command {
  const command = new Command('worker')
    .summary('decide what runs do next and make their model and tool calls')
    .description(
      'Runs the workflows and their calls to models and tools. Run as many as the load needs; when one dies, ' +
        'the others go on where it was, and nothing that was answered is asked again.',
    )
    .addHelpText(
      'after',
      `${temporalHelp}
Examples:
  ${program} worker --temporal-address localhost:7233
  ${program} worker --health-port 0 --max-cached-workflows 2000
`,
    );
  addSettings(command, names, { healthPort: '8082' });

  return command.action(async (_options, cmd: Command) => {
    const settings = readSettings(cmd, names);
    const access = await clusterAccess(settings);
    const temporal = await temporalAccess(settings);
    const [{ runWorker }, { createWorkerMetrics }, { runProcess }] = await Promise.all([
      import('../worker/main.ts'),
      import('../adapters/telemetry/metrics.ts'),
      import('./run-process.ts'),
    ]);
    await runProcess('worker', settings, ({ logger, registry, health, signal }) => {
      const { taskQueue, maxCachedWorkflows, maxConcurrentCalls, events } = settings;
      const metrics = createWorkerMetrics(registry);
      return runWorker(
        {
          ...access,
          temporal,
          taskQueue,
          maxCachedWorkflows,
          maxConcurrentCalls,
          events,
          logger,
          health,
          metrics,
        },
        signal,
      );
    });
  });
}
