import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack, type Stack, type StackOptions } from '../../src/dev/stack.ts';
import { waitUntil } from '../../src/dev/wait-until.ts';

export type StackInTest = {
  /** There from the first test on; asking earlier is an error. */
  readonly stack: Stack;
  /** Runs kubectl against the stack and returns what it printed; its failure is an error with what it said. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
};

export type StackInTestOptions = Partial<Omit<StackOptions, 'dir' | 'signal'>>;

/**
 * One stack of real servers for the tests of this file, in a folder of its own, with the resource definitions installed:
 * booted before the first test, stopped after the last. With ARKWRIGHT_KEEP=1 the folder stays, for its logs.
 */
export function withStack(options: StackInTestOptions = {}): StackInTest {
  let dir = '';
  let running: Stack | undefined;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'arkwright-test-'));
    running = await startStack({ report: () => undefined, install, ...options, dir });
  });

  afterAll(async () => {
    await running?.stop();
    if (process.env['ARKWRIGHT_KEEP']) console.log(`The stack's folder is ${dir}`);
    else await rm(dir, { recursive: true, force: true });
  });

  const stack = () => {
    if (!running) throw new Error('The stack is there from the first test on, not before.');
    return running;
  };
  return {
    get stack() {
      return stack();
    },
    kubectl: (args, input) => kubectl(stack(), args, input),
  };
}

const kubectlOutputMax = 64 * 1024 * 1024;
const kubectlTimeoutMs = 150_000;

/** For tests that start their stack themselves. */
export function kubectl(stack: Stack, args: readonly string[], input = ''): Promise<string> {
  const options = { timeout: kubectlTimeoutMs, maxBuffer: kubectlOutputMax };
  return new Promise((resolve, reject) => {
    const child = execFile(
      stack.servers.kubectl,
      ['--kubeconfig', stack.kubeconfig, ...args],
      options,
      (error, stdout, stderr) => {
        if (error)
          reject(new Error(`kubectl ${args.join(' ')} said: ${stderr || error.message}`, { cause: error }));
        else resolve(stdout);
      },
    );
    child.stdin?.on('error', () => undefined); // it ended without reading; its exit code says why
    child.stdin?.end(input);
  });
}

/** Against hanging only, as all bounds on what is meant to succeed. */
const defaultWaitMs = 120_000;

/** Resolves with what the condition returns once that is not false or undefined; fails saying what was waited for. */
export const waitFor = <T>(
  condition: () => Promise<T | false | undefined> | T | false | undefined,
  { timeoutMs = defaultWaitMs, what, everyMs }: { timeoutMs?: number; what: string; everyMs?: number },
): Promise<T> => waitUntil(condition, { what, timeoutMs, ...(everyMs !== undefined && { everyMs }) });

async function install(kubeconfig: string): Promise<void> {
  const { installForDevelopment } = await import('../../src/cli/install-for-development.ts');
  await installForDevelopment(kubeconfig);
}
