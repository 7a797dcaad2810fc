import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Command } from 'commander';
import type { Decision } from '../worker/decisions.ts';
import type { History, Replayed } from '../worker/replay.ts';
import { addSettings, readSettings, UsageError } from './settings.ts';
import { temporalAccess, temporalHelp } from './temporal-access.ts';
import { withQuery } from './with-query.ts';

const names = ['kubeconfig', 'context', 'temporalAddress', 'temporalNamespace'] as const;

/** `arkwright replay`: what a run decided, turn by turn, and whether the installed code would decide the same. */
export function replayCommand(program: string): Command {
  const command = new Command('replay')
    .summary('show what a run decided, and whether this code still decides the same')
    .description(
      'Fetches the history of a Query’s run from Temporal, or reads it from a file, and runs the installed workflow code ' +
        'against it. Nothing is called and nothing changes. The exit code is 1 where the code decides otherwise.',
    )
    .argument('<query>', 'the name of a Query, or a .json file with a history')
    .option(
      '-n, --namespace <name>',
      "the Query's namespace (otherwise: the context's; no environment variable)",
    )
    .option('--workflow-id <id>', 'the run by its id, where the Query is gone (no environment variable)')
    .addHelpText(
      'after',
      `${temporalHelp}
Examples:
  ${program} replay trip-plan -n team-a
  ${program} replay test/histories/round-robin.json
`,
    );
  addSettings(command, names);

  return command.action(async (query: string, _options, cmd: Command) => {
    const { namespace, workflowId } = cmd.opts<{ namespace?: string; workflowId?: string }>();
    const settings = readSettings(cmd, names);
    const isFile = query.endsWith('.json');
    const runs = isFile
      ? fromFile(query)
      : fromTemporal(workflowId ?? (await workflowIdOf({ ...settings, query, namespace })), settings);

    const [{ replay }, { DefaultLogger, Runtime }] = await Promise.all([
      import('../worker/replay.ts'),
      import('@temporalio/worker'),
    ]);
    // The states of the worker that replays are of no interest; what it finds is printed below.
    Runtime.install({ logger: new DefaultLogger('ERROR') });
    let diverged = false;
    for await (const { workflowId: id, history } of runs) {
      const replayed = await replay(history, id);
      console.log(pageOf(replayed));
      diverged ||= replayed.divergence !== undefined;
    }
    if (diverged) process.exitCode = 1;
  });
}

const workflowIdOf = (wanted: Parameters<typeof withQuery>[0]): Promise<string> =>
  withQuery(wanted, ({ workflowId }) => Promise.resolve(workflowId));

interface RecordedRun {
  readonly workflowId: string;
  readonly history: History;
}

async function* fromFile(path: string): AsyncGenerator<RecordedRun> {
  if (!existsSync(path))
    throw new UsageError(`There is no file ${path}; give a history, or the name of a Query.`);

  const { parseHistory } = await import('../worker/replay.ts');
  const json = await readFile(path, 'utf8');
  let history: History;
  try {
    history = parseHistory(json);
  } catch (error) {
    throw new UsageError(`${path} is not a history as "temporal workflow show --output json" writes it.`, {
      cause: error,
    });
  }
  yield { workflowId: basename(path, '.json'), history };
}

async function* fromTemporal(
  workflowId: string,
  settings: { readonly temporalAddress: string | undefined; readonly temporalNamespace: string | undefined },
): AsyncGenerator<RecordedRun> {
  const { connectionOptions, namespace } = await temporalAccess(settings);
  const [{ Client, Connection }, { fetchRuns }] = await Promise.all([
    import('@temporalio/client'),
    import('./fetch-runs.ts'),
  ]);
  const connection = await Connection.connect(connectionOptions);
  try {
    yield* fetchRuns(new Client({ connection, namespace }), workflowId);
  } finally {
    await connection.close();
  }
}

function pageOf({ workflowId, events, decisions, divergence }: Replayed): string {
  const verdict =
    divergence === undefined
      ? 'The installed code decides the same.'
      : `The installed code decides otherwise: ${divergence}`;
  return [`${workflowId} (${events} events)`, ...decisions.map(lineOf), verdict, ''].join('\n');
}

function lineOf({ id, kind, summary, outcome, detail, tokens, tookMs }: Decision): string {
  const took = tookMs === undefined ? '' : ` in ${(tookMs / 1000).toFixed(1)} s`;
  const cost = tokens > 0 ? `, ${tokens} tokens` : '';
  const what = kind === 'call' ? '' : `${kind} `;
  return `  ${id}  ${summary && `${summary}  `}${what}${outcome}${took}${cost}${detail && `: ${JSON.stringify(detail)}`}`;
}
