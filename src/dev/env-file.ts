import { rm } from 'node:fs/promises';
import type { Stack } from './stack.ts';
import { isArkwright } from './programs.ts';
import { writeWhole } from './write-whole.ts';

export type EnvFile = {
  /** Resolves when the file says what is true now; does nothing once it is removed. */
  refresh(): Promise<void>;
  remove(): Promise<void>;
};

/** A file to `source` in a shell, which says where everything is and under which pid. It is always whole. */
export function openEnvFile(path: string, stack: Stack, companions: ReadonlyMap<string, string>): EnvFile {
  // One write after the other: two at once could leave the older one in place.
  let last = Promise.resolve();
  // Processes still end after the file is gone, and must not bring it back.
  let removed = false;
  return {
    refresh() {
      if (!removed)
        last = last.catch(() => undefined).then(() => writeWhole(path, envText(stack, companions)));
      return last;
    },
    async remove() {
      removed = true;
      await last.catch(() => undefined);
      await rm(path, { force: true });
    },
  };
}

/** The lines of the file. A process that is down just now has an empty pid. */
export function envText(stack: Stack, companions: ReadonlyMap<string, string>): string {
  const variables: Record<string, string> = {
    KUBECONFIG: stack.kubeconfig,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_NAMESPACE: stack.temporalNamespace,
    TEMPORAL_UI: stack.temporalUi,
  };
  for (const name of stack.processes) {
    variables[`${shellName(name)}_PID`] = String(stack.pid(name) ?? '');
    if (isArkwright(name)) variables[`${shellName(name)}_HEALTH`] = stack.healthUrl(name);
  }
  if (stack.processes.includes('broker')) variables['BROKER_URL'] = stack.brokerUrl;
  for (const [name, url] of companions) variables[`${shellName(name)}_URL`] = url;

  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('');
}

const shellName = (name: string) => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');

const plain = /^[\w@%+:,./-]+$/;

/** For a shell. Nothing in single quotes means anything to it, except the quote itself. */
export const quoted = (value: string): string =>
  plain.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
