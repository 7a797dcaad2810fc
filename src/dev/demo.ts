import { join, relative } from 'node:path';
import { Client, Connection } from '@temporalio/client';

import { kubectlFor, type Kubectl } from './kubectl.ts';
import { applySampleModel, readSample, realModel, scriptedModelAccess } from './sample-model.ts';
import { sampleToolsPort, startSampleTools } from './sample-tools.ts';
import { startScriptedModel, type ScriptedModel } from './scripted-model.ts';
import { startStack, type Stack, type StackOptions } from './stack.ts';
import { waitUntil } from './wait-until.ts';
import { decisionsOf, type Decision } from '../worker/decisions.ts';

const query = 'article';
const sample = '03-sequential.yaml';
/** Long enough to read along, and for the kill to fall into the middle of a turn. */
const modelDelayMs = 1_500;
const finishedWithinMs = 300_000;
const lookEveryMs = 200;
/** The team has four members: after two turns the worker is killed. */
const turnsBeforeTheKill = 2;

type Say = (line: string) => void;

/**
 * Boots everything on this machine, lets a team of four answer a Query, kills the worker on the way, and shows that
 * nothing was asked twice. Resolves when all of it has stopped again; rejects when the Query did not end `done` or a
 * finished call was repeated.
 */
export async function runDemo(
  {
    install,
    say = console.log,
  }: { readonly install: NonNullable<StackOptions['install']>; readonly say?: Say },
  signal: AbortSignal,
): Promise<void> {
  const dir = join('.arkwright', 'demo');
  heading(
    say,
    'Booting etcd, kube-apiserver, Temporal, a controller, a worker and a broker (minutes the first time, seconds afterwards)',
  );
  const stack = await startStack({ dir, fresh: true, report: say, install, signal });
  const scripted = realModel() ? undefined : await startScriptedModel({ delayMs: modelDelayMs });
  const tools = await startSampleTools({ port: 0 });
  try {
    const kubectl = kubectlFor(stack);
    await applySampleModel(kubectl, realModel() ?? scriptedModelAccess(scripted?.baseUrl ?? ''));
    await play(
      stack,
      kubectl,
      await readSample(sample, { [sampleToolsPort]: tools.url }),
      scripted,
      say,
      signal,
    );
    farewell(stack, say);
  } finally {
    say('\nstopping everything');
    await Promise.all([stack.stop(), scripted?.close(), tools.close()]);
  }
}

async function play(
  stack: Stack,
  kubectl: Kubectl,
  manifest: string,
  scripted: ScriptedModel | undefined,
  say: Say,
  signal: AbortSignal,
): Promise<void> {
  heading(say, `kubectl apply -f samples/${sample}`);
  say((await kubectl(['apply', '-f', '-'], manifest)).trim());

  heading(say, `The turns of Query ${query}, as they happen`);
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    const workflowId = await workflowIdOf(kubectl, signal);
    const { workflow } = new Client({ connection, namespace: stack.temporalNamespace });
    await followTurns(
      async () => decisionsOf((await workflow.getHandle(workflowId).fetchHistory()).events ?? []),
      () => isCompleted(kubectl),
      () => killWorker(stack, scripted, say),
      say,
      signal,
    );
  } finally {
    await connection.close();
  }

  heading(say, `kubectl get query ${query}`);
  say((await kubectl(['get', 'query', query])).trim());
  const { status } = JSON.parse(await kubectl(['get', 'query', query, '-o', 'json'])) as { status: Status };
  heading(say, 'The answer');
  say(status.responses?.[0]?.content ?? '');
  if (status.phase !== 'done')
    throw new Error(`Query ${query} ended ${status.phase}: ${status.message ?? 'no message'}`);
  if (scripted) countCalls(scripted, say);
}

interface Status {
  readonly phase: string;
  readonly message?: string;
  readonly responses?: readonly { readonly content?: string }[];
}

async function workflowIdOf(kubectl: Kubectl, signal: AbortSignal): Promise<string> {
  let id = '';
  const started = async (): Promise<boolean> => {
    id = await kubectl(['get', 'query', query, '-o', 'jsonpath={.status.temporal.workflowId}']);
    return id !== '';
  };
  await waitUntil(started, {
    what: `Query ${query} to start its run`,
    timeoutMs: 120_000,
    everyMs: lookEveryMs,
    signal,
  });
  return id;
}

const isCompleted = async (kubectl: Kubectl): Promise<boolean> =>
  (await kubectl([
    'get',
    'query',
    query,
    '-o',
    'jsonpath={.status.conditions[?(@.type=="Completed")].status}',
  ])) === 'True';

/** Prints each call once it is answered, and calls `halfway` when enough turns are over. */
async function followTurns(
  look: () => Promise<readonly Decision[]>,
  isOver: () => Promise<boolean>,
  halfway: () => Promise<void>,
  say: Say,
  signal: AbortSignal,
): Promise<void> {
  const told = new Set<string>();
  let killed = false;
  const tell = async (): Promise<boolean> => {
    const over = await isOver();
    const decisions = await look();
    for (const decision of decisions) {
      if (decision.outcome === 'open' || told.has(decision.id)) continue;
      told.add(decision.id);
      say(lineOf(decision));
    }
    const inNextTurn = decisions.some(
      ({ id, outcome }) => id.startsWith(`t00${turnsBeforeTheKill + 1}.`) && outcome === 'open',
    );
    if (!killed && inNextTurn) {
      killed = true;
      await halfway();
    }
    return over;
  };
  await waitUntil(tell, {
    what: `Query ${query} to end`,
    timeoutMs: finishedWithinMs,
    everyMs: lookEveryMs,
    signal,
  });
}

const lineOf = ({ summary, outcome, detail, tokens, tookMs = 0 }: Decision): string =>
  `  ${summary.padEnd(34)} ${outcome} after ${(tookMs / 1000).toFixed(1)} s${tokens ? `, ${tokens} tokens` : ''}\n      ${detail}`;

async function killWorker(stack: Stack, scripted: ScriptedModel | undefined, say: Say): Promise<void> {
  const paid = scripted ? `; the model has been paid for ${scripted.total().finished} answers so far` : '';
  say(
    `\n  kill -9 ${stack.pid('worker')}   # the worker, in the middle of turn ${turnsBeforeTheKill + 1}${paid}`,
  );
  await stack.kill('worker', 'SIGKILL');
  await stack.ready('worker');
  say(`  another worker has started (pid ${stack.pid('worker')}); the run goes on where it was\n`);
}

function countCalls(scripted: ScriptedModel, say: Say): void {
  const { started, finished, repeated } = scripted.total();
  heading(say, 'What the model server counted');
  say(
    `  ${finished} answers given, ${started - finished} call cut off by the kill and asked again, ${repeated} finished answers asked for again`,
  );
  if (repeated > 0) throw new Error(`${repeated} finished model calls were repeated; that must never happen`);
}

function farewell({ dir, temporalUi, temporalNamespace }: Stack, say: Say): void {
  const folder = relative(process.cwd(), dir);
  heading(say, 'Look closer');
  say(
    [
      `  npm run dev -- --dir ${folder}          keeps this stack up, with this run in it`,
      `  . ${folder}/env                         in another terminal: KUBECONFIG and the rest`,
      `  kubectl get query ${query} -o yaml`,
      `  npm run -s arkwright -- replay ${query}    what was decided, against today's code`,
      `  ${temporalUi}/namespaces/${temporalNamespace}/workflows    every turn in the Web UI`,
    ].join('\n'),
  );
}

const heading = (say: Say, text: string): void => say(`\n\u2500\u2500 ${text}`);
