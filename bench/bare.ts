/**
 * What the servers take by themselves, on this machine and at this moment: the yardstick for every other figure.
 *
 * Of Temporal: a workflow of one call that answers at once, and what each further call adds. Of the API server: the
 * writes that ARK's controller makes for a Query of one agent (contract sections 3.1 and 6.1) and nothing else, on a
 * copy of the Query's CRD that no controller looks at.
 */
import { readFile } from 'node:fs/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { KubernetesConnection } from '../src/adapters/kubernetes/connection.ts';
import type { Kubectl } from '../src/dev/kubectl.ts';
import type { Stack } from '../src/dev/stack.ts';
import { waitUntil } from '../src/dev/wait-until.ts';
import type { calls } from './bare-workflow.ts';
import { allAtOnce, quantile, timed } from './timing.ts';

const runs = 60;
const callsMany = 8;
const taskQueue = 'bare';

/** Milliseconds, medians of `runs`, one after the other: a workflow of one call, and each further call. */
export async function temporalAlone({ ports }: Stack): Promise<{ oneCall: number; furtherCall: number }> {
  const address = `127.0.0.1:${ports.temporal}`;
  const native = await NativeConnection.connect({ address });
  const connection = await Connection.connect({ address });
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowsPath: new URL('./bare-workflow.ts', import.meta.url).pathname,
    activities: { answer: async () => 'x'.repeat(200) },
  });
  const { workflow } = new Client({ connection });
  const taken = async (name: string, count: number): Promise<number> => {
    const options = { taskQueue, args: [count] as [number] };
    return medianOf(runs, (n) =>
      workflow.execute<typeof calls>('calls', { ...options, workflowId: `bare-${name}-${n}` }),
    );
  };
  try {
    return await worker.runUntil(async () => {
      await taken('warm', 1);
      const oneCall = await taken('one', 1);
      const many = await taken('many', callsMany);
      return { oneCall, furtherCall: (many - oneCall) / (callsMany - 1) };
    });
  } finally {
    await connection.close();
    await native.close();
  }
}

const bareGroup = 'bare.example.com';
const path = `/apis/${bareGroup}/v1alpha1/namespaces/default/queries`;
const events = 7;

/** The writes of one Query: milliseconds (median, one after the other), and Queries a second, many at once. */
export async function writesAlone(
  cluster: KubernetesConnection,
  kubectl: Kubectl,
): Promise<{ one: number; perSecond: number }> {
  const crd = await readFile(new URL('../crds/queries.yaml', import.meta.url), 'utf8');
  await kubectl(['apply', '--server-side', '-f', '-'], crd.replaceAll('ark.mckinsey.com', bareGroup));
  await waitUntil(() => cluster.request('GET', path).then(Boolean, () => false), {
    what: 'the CRD',
    timeoutMs: 30_000,
  });

  await medianOf(runs, (n) => writesOf(cluster, `warm-${n}`));
  const one = await medianOf(runs, (n) => writesOf(cluster, `one-${n}`));

  const names = Array.from({ length: runs * 5 }, (_, n) => `many-${n}`);
  const startedMs = performance.now();
  await allAtOnce(names, (name) => Promise.all([writesOf(cluster, name), eventsOf(cluster, name)]));
  return { one, perSecond: (names.length / (performance.now() - startedMs)) * 1_000 };
}

/** Create, finalizer, `running`, `done`: nobody asks a model in between. */
async function writesOf({ request }: KubernetesConnection, name: string): Promise<void> {
  const patch = (where: string, body: object): Promise<unknown> =>
    request('PATCH', `${path}/${name}${where}`, { body, contentType: 'application/merge-patch+json' });

  await request('POST', path, {
    body: {
      apiVersion: `${bareGroup}/v1alpha1`,
      kind: 'Query',
      metadata: { name, namespace: 'default' },
      spec: { input: `question ${name}`, targets: [{ type: 'agent', name: 'ann' }] },
    },
  });
  await patch('', { metadata: { finalizers: [`${bareGroup}/finalizer`] } });
  await patch('/status', { status: { phase: 'running' } });
  const responses = [{ target: { type: 'agent', name: 'ann' }, content: 'x'.repeat(200) }];
  const tokenUsage = { promptTokens: 10, completionTokens: 10, totalTokens: 20 };
  await patch('/status', { status: { phase: 'done', responses, tokenUsage } });
}

async function eventsOf({ request }: KubernetesConnection, name: string): Promise<void> {
  for (let n = 0; n < events; n++) {
    const at = new Date().toISOString();
    await request('POST', '/api/v1/namespaces/default/events', {
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `${name}.${n}`, namespace: 'default' },
        involvedObject: { apiVersion: `${bareGroup}/v1alpha1`, kind: 'Query', namespace: 'default', name },
        type: 'Normal',
        reason: 'LLMCallStart',
        message: JSON.stringify({ Metadata: { agent: 'default/ann', model: 'default' }, Duration: '' }),
        source: { component: 'bare' },
        firstTimestamp: at,
        lastTimestamp: at,
        count: 1,
      },
    });
  }
}

const medianOf = async (count: number, run: (n: number) => Promise<unknown>): Promise<number> =>
  quantile(await timed(count, run), 0.5);
