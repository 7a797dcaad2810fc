import { execFile } from 'node:child_process';

const outputBytesMax = 16 * 1024 * 1024;

/** Runs kubectl and returns what it printed; rejects with what it complained about. */
export type Kubectl = (words: readonly string[], input?: string) => Promise<string>;

export const kubectlFor =
  ({
    servers,
    kubeconfig,
  }: {
    readonly servers: { readonly kubectl: string };
    readonly kubeconfig: string;
  }): Kubectl =>
  (words, input = '') =>
    new Promise((resolve, reject) => {
      const env = { ...process.env, KUBECONFIG: kubeconfig };
      const child = execFile(
        servers.kubectl,
        words,
        { env, maxBuffer: outputBytesMax },
        (error, stdout, stderr) => {
          if (error) reject(new Error(`kubectl ${words.join(' ')}: ${stderr.trim() || error.message}`));
          else resolve(stdout);
        },
      );
      // kubectl may end before it has read all; its own words then say more than a broken pipe.
      child.stdin?.on('error', () => undefined).end(input);
    });
