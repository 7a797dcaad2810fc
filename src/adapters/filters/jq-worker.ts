import { parentPort } from 'node:worker_threads';
import { goJson } from './go-json.ts';
import { runJq } from './run-jq.ts';

export interface JqJob {
  readonly expressions: readonly string[];
  readonly content: string;
}

export type JqVerdict = { readonly content: string } | { readonly problem: string };

const problemCharactersMax = 500;

/** jq's exit status where the expression itself is at fault. */
const compileErrorStatus = 3;

/** Runs jq in a thread of its own: an expression that runs away is ended by ending the thread. */
parentPort?.on('message', (job: JqJob) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  void verdictOn(job).then((verdict) => parentPort?.postMessage(verdict));
});

async function verdictOn({ expressions, content }: JqJob): Promise<JqVerdict> {
  try {
    let text = content;
    for (const expression of expressions) text = await filtered(expression, text);
    return { content: text };
  } catch (error) {
    return { problem: (error as Error).message.slice(0, problemCharactersMax) };
  }
}

/** Contract section 4.9: without an expression, or where the content is not JSON, it passes unchanged. */
async function filtered(expression: string, content: string): Promise<string> {
  const input = expression === '' ? undefined : jsonOf(content);
  if (!input) return content;

  const { status, output, complaint } = await runJq(expression, JSON.stringify(input.value));
  if (status === compileErrorStatus && /syntax error|not given/.test(complaint)) {
    throw new Error(`failed to parse jq expression '${expression}': ${complaint}`);
  }
  if (status !== 0) throw new Error(`jq query execution error: ${complaint}`);

  const results = output.split('\n').filter((line) => line !== '');
  if (results.length > 1) return goJson(results.map((line): unknown => JSON.parse(line)));
  return results[0] === undefined ? '' : goJson(JSON.parse(results[0]));
}

/** Numbers become doubles here, as they do in Go; jq would keep their digits. */
function jsonOf(content: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(content) };
  } catch {
    return undefined;
  }
}
