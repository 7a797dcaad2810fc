import { Command } from 'commander';
import { resetPoint } from './reset-point.ts';
import { addSettings, readSettings } from './settings.ts';
import { temporalAccess, temporalHelp } from './temporal-access.ts';
import { withQuery } from './with-query.ts';

const names = ['kubeconfig', 'context', 'temporalAddress', 'temporalNamespace'] as const;

/** `arkwright rerun`: a finished run goes on from the step that failed; what was answered before is not asked again. */
export function rerunCommand(program: string): Command {
  const command = new Command('rerun')
    .summary('let a failed Query go on from the turn that failed')
    .description(
      'Goes back to the step of a Query’s run that failed, or to the one that --from names, and goes on from there with ' +
        'the definitions the run began with. What was answered before that step is kept; it and all after it are asked ' +
        'again. A nested team is one step. Tools get the same Idempotency-Key as before.',
    )
    .argument('<query>', 'the name of a Query that has ended')
    .option(
      '-n, --namespace <name>',
      "the Query's namespace (otherwise: the context's; no environment variable)",
    )
    .option(
      '--from <step>',
      'a turn (3), or a step as the Web UI names it (t003.critic.model.1; no environment variable)',
    )
    .addHelpText(
      'after',
      `${temporalHelp}
Examples:
  ${program} rerun trip-plan -n team-a
  ${program} rerun trip-plan --from 2
`,
    );
  addSettings(command, names);

  return command.action(async (query: string, _options, cmd: Command) => {
    const { namespace, from } = cmd.opts<{ namespace?: string; from?: string }>();
    const settings = readSettings(cmd, names);
    await withQuery({ ...settings, query, namespace }, async ({ workflowId, showRunning, shown }) => {
      const { id } = await reset(workflowId, from, settings);
      await showRunning();
      console.log(`${shown} goes on from ${id}; wait for it with`);
      console.log(`  kubectl wait --for=condition=Completed query/${query} --timeout=10m`);
    });
  });
}

async function reset(
  workflowId: string,
  from: string | undefined,
  settings: { readonly temporalAddress: string | undefined; readonly temporalNamespace: string | undefined },
) {
  const { connectionOptions, namespace } = await temporalAccess(settings);
  const { Client, Connection } = await import('@temporalio/client');
  const connection = await Connection.connect(connectionOptions);
  try {
    const client = new Client({ connection, namespace });
    const handle = client.workflow.getHandle(workflowId);
    const [{ runId }, history] = await Promise.all([handle.describe(), handle.fetchHistory()]);
    const point = resetPoint(history, from);
    await client.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: { workflowId, runId },
      workflowTaskFinishEventId: point.workflowTaskEventId,
      // The same again is the same reset: a command whose reply was lost may be repeated.
      requestId: `${runId}:${String(point.workflowTaskEventId)}`,
      reason: `arkwright rerun from ${point.id}`,
    });
    return point;
  } finally {
    await connection.close();
  }
}
