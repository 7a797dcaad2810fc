import { once } from 'node:events';
import { join, relative } from 'node:path';
import { openEnvFile, quoted } from './env-file.ts';
import { companionsMax } from './ports.ts';
import { startStack, type Stack, type StackOptions } from './stack.ts';

/** A server that the samples need and a cluster would not have, for instance the scripted model. */
export type Companion = { readonly name: string; readonly url: string; close(): Promise<void> };
/** It gets a port that stays the same while the folder does: objects in the cluster hold its address. */
export type StartCompanion = (place: { readonly port: number }) => Promise<Companion>;

export type DevSettings = Omit<StackOptions, 'signal'> & {
  readonly companions?: readonly StartCompanion[];
  /** Called when all of it is up, before anybody is told: puts into the cluster what the companions are for. */
  readonly introduce?: (stack: Stack, companions: readonly Companion[]) => Promise<void>;
};

export const defaultDevFolder = join('.arkwright', 'dev');

/**
 * Keeps a stack up until the signal is given, and resolves when all of it has ended.
 *
 * Once everything is ready it says how to reach it, and `<dir>/env` can be sourced; that file then follows every restart of
 * a process, and goes away with the stack.
 */
export async function runDev(settings: DevSettings, signal: AbortSignal): Promise<void> {
  const stack = await startStack({ ...settings, signal });
  const companions: Companion[] = [];
  try {
    await startCompanions(settings.companions ?? [], stack, companions);
    await settings.introduce?.(stack, companions);
    await keepUp(stack, companions, settings.report, signal);
  } finally {
    settings.report('stopping');
    await Promise.all([stack.stop(), ...companions.map((companion) => companion.close())]);
  }
}

/** One after the other, and each noted at once: should one fail, those before it are closed. */
async function startCompanions(
  starts: readonly StartCompanion[],
  { ports }: Stack,
  started: Companion[],
): Promise<void> {
  if (starts.length > companionsMax) {
    throw new Error(`A stack has ports for ${companionsMax} companions at most, not for ${starts.length}.`);
  }
  for (const [index, start] of starts.entries())
    started.push(await start({ port: ports.companions[index]! }));
}

async function keepUp(
  stack: Stack,
  companions: readonly Companion[],
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const path = join(stack.dir, 'env');
  const env = openEnvFile(path, stack, new Map(companions.map(({ name, url }) => [name, url])));
  const cannotWrite = (error: Error) => report(`could not write ${path}: ${error.message}`);
  try {
    await env.refresh();
    stack.onChange(() => void env.refresh().catch(cannotWrite));
    for (const line of greeting(stack, path)) report(line);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    await env.remove();
  }
}

const greeting = (stack: Stack, envPath: string): readonly string[] => [
  '',
  `export KUBECONFIG=${quoted(stack.kubeconfig)}`,
  `Temporal Web UI: ${stack.temporalUi}/namespaces/${stack.temporalNamespace}/workflows`,
  `Pids and addresses: . ${quoted(relative(process.cwd(), envPath))}`,
  `Logs: ${relative(process.cwd(), join(stack.dir, 'logs'))}`,
  'Ctrl-C stops all of it; what you applied is there again next time.',
];
