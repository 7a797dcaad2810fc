import { Command } from 'commander';
import { clusterAccess } from './cluster-access.ts';
import type { AdmissionSettings } from '../controller/admission/run-admission.ts';
import { addSettings, processSettings, readSettings } from './settings.ts';
import type { SettingName, Settings } from './settings.ts';
import { temporalAccess, temporalHelp } from './temporal-access.ts';

const webhookSettings = ['webhook', 'webhookHost', 'webhookPort', 'webhookFailurePolicy'] as const;
type WebhookSetting = (typeof webhookSettings)[number];
const names = [
  ...(['kubeconfig', 'context', 'namespace', 'leaderElection'] as const),
  ...(['temporalAddress', 'temporalNamespace', 'temporalUi', 'taskQueue'] as const),
  ...webhookSettings,
  ...(['toolRounds', 'turns', 'concurrency', 'events'] as const),
  ...processSettings,
] as const;

/** `arkwright controller`: starts a run for every Query and writes to its status what becomes of it. */
export function controllerCommand(program: string): Command {
  const command = new Command('controller')
    .summary('start runs for Queries and write their results to status')
    .description(
      'Watches Queries, starts a Temporal workflow for each and writes its progress and result to status. ' +
        'Run two: one acts, the other takes over within seconds. Runs go on while none is there.',
    )
    .addHelpText(
      'after',
      `${temporalHelp}
Examples:
  ${program} controller --temporal-address localhost:7233 --temporal-ui http://localhost:8233
  KUBECONFIG=staging.yaml TEMPORAL_PROFILE=staging ${program} controller --leader-election false --log-level debug
`,
    );
  addSettings(command, names);

  return command.action(async (_options, cmd: Command) => {
    const settings = readSettings(cmd, names);
    const access = await clusterAccess(settings);
    const temporal = await temporalAccess(settings);
    const [{ runController }, { createControllerMetrics }, { runProcess }] = await Promise.all([
      import('../controller/main.ts'),
      import('../adapters/telemetry/metrics.ts'),
      import('./run-process.ts'),
    ]);
    await runProcess('controller', settings, ({ logger, registry, health, signal }) => {
      const { namespace, leaderElection, temporalUi, taskQueue, toolRounds, turns, concurrency, events } =
        settings;
      return runController(
        {
          ...access,
          namespace,
          leaderElection,
          temporal,
          temporalUi,
          taskQueue,
          limits: { toolRounds, turns, concurrency },
          events,
          admission: admissionOf(settings),
          logger,
          health,
          metrics: createControllerMetrics(registry),
        },
        signal,
      );
    });
  });
}

/** Undefined where nobody is to be asked; ARK's own switch counts as well (contract 2). */
export function admissionOf({
  webhook,
  webhookHost,
  webhookPort: port,
  webhookFailurePolicy,
}: Pick<Settings<SettingName>, WebhookSetting>): AdmissionSettings | undefined {
  if (webhook === 'off' || process.env['ENABLE_WEBHOOKS'] === 'false') return undefined;
  return {
    by: webhook,
    host: webhookHost ?? (webhook === 'url' ? '127.0.0.1' : '0.0.0.0'),
    port,
    failurePolicy: webhookFailurePolicy === 'ignore' ? 'Ignore' : 'Fail',
  };
}
