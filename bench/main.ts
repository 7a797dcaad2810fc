/**
 * What docs/performance.md quotes, measured on the embedded stack with leader election on: `npm run bench [names…]`.
 *
 *   single     one agent, model delay 0: from create to `done`, p50 and p95 of 100 Queries one after the other
 *   turns      a sequential team of 8 against one agent: the overhead a turn adds, model delay 0
 *   burst      5,000 single-agent Queries at once, model delay 500 ms: Queries a second, all `done`
 *   kill       a worker killed with SIGKILL: until runs between two calls go on, and until calls in flight are asked again
 *   idle       memory of controller and worker a minute after what was measured before it, and just started
 *   bare       what Temporal and the API server take by themselves, as a yardstick for the others
 *
 * The machine is shared and noisy: quote ratios and medians, and say which machine it was.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectKubernetes, type KubernetesConnection } from '../src/adapters/kubernetes/connection.ts';
import { installForDevelopment } from '../src/cli/install-for-development.ts';
import { kubectlFor } from '../src/dev/kubectl.ts';
import { applySampleModel, scriptedModelAccess } from '../src/dev/sample-model.ts';
import { startScriptedModel, type ScriptedModel } from '../src/dev/scripted-model.ts';
import { startStack, type Stack } from '../src/dev/stack.ts';
import { waitUntil } from '../src/dev/wait-until.ts';
import { temporalAlone, writesAlone } from './bare.ts';
import { allAtOnce, quantile, timed } from './timing.ts';

const burstSize = Number(process.env['ARKWRIGHT_BENCH_BURST'] ?? 5_000);
const singles = 100;
/** Thrown out of a watch that has seen enough. */
const allSeen = new Error('all done');
const queriesPath = '/apis/ark.mckinsey.com/v1alpha1/namespaces/default/queries';

interface WatchEvent {
  /** A bookmark's object has no name. */
  readonly object: {
    readonly metadata: { readonly name?: string };
    readonly status?: { readonly phase?: string; readonly error?: string };
  };
}

interface Bench {
  readonly stack: Stack;
  readonly cluster: KubernetesConnection;
  readonly model: ScriptedModel;
  setDelay(ms: number): void;
}

const benches: Record<string, (bench: Bench) => Promise<string>> = { single, turns, idle, kill, bare, burst };

const wanted = process.argv.slice(2);
const dir = await mkdtemp(join(tmpdir(), 'arkwright-bench-'));
const stack = await startStack({ dir, report: console.error, install: installForDevelopment });
let delayMs = 0;
const model = await startScriptedModel({
  script: async () => {
    if (delayMs > 0) await sleep(delayMs);
    return { content: 'x'.repeat(200) };
  },
});
const cluster = connectKubernetes({ kubeconfig: stack.kubeconfig });
try {
  const kubectl = kubectlFor(stack);
  await applySampleModel(kubectl, scriptedModelAccess(model.baseUrl));
  await kubectl(['apply', '-f', '-'], definitions());
  const bench: Bench = { stack, cluster, model, setDelay: (ms) => void (delayMs = ms) };
  for (const [name, measure] of Object.entries(benches)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`${name.padEnd(8)} ${await measure(bench)}`);
  }
} finally {
  await cluster.close();
  await model.close();
  await stack.stop();
  await rm(dir, { recursive: true, force: true });
}

async function single(bench: Bench): Promise<string> {
  bench.setDelay(0);
  await times(bench, 'warm', 20, 'agent', 'ann');
  const spent = await cpuSpent(bench.stack);
  const ms = await times(bench, 'single', singles, 'agent', 'ann');
  const cpu = await spent(singles);
  return `create to done: p50 ${quantile(ms, 0.5)} ms, p95 ${quantile(ms, 0.95)} ms (${singles} Queries, one after the other); CPU a Query: ${cpu}`;
}

async function turns(bench: Bench): Promise<string> {
  bench.setDelay(0);
  const one = quantile(await times(bench, 'one', 30, 'agent', 'ann'), 0.5);
  const spent = await cpuSpent(bench.stack);
  const eight = quantile(await times(bench, 'eight', 30, 'team', 'eight'), 0.5);
  const cpu = await spent(30 * 8);
  return `overhead a turn: ${((eight - one) / 7).toFixed(1)} ms (team of 8: p50 ${eight} ms, one agent: ${one} ms); CPU a turn: ${cpu}`;
}

async function idle(bench: Bench): Promise<string> {
  await sleep(60_000);
  const before = await memoryOfBoth(bench.stack);
  await Promise.all([bench.stack.restart('controller'), bench.stack.restart('worker')]);
  await sleep(5_000);
  return `${before} after a minute; just started: ${await memoryOfBoth(bench.stack)}`;
}

async function memoryOfBoth({ pid }: Stack): Promise<string> {
  const [controller, worker] = await Promise.all([memory(pid('controller')), memory(pid('worker'))]);
  const shared = Math.min(controller.shared, worker.shared);
  const together = controller.resident + worker.resident;
  return `controller ${controller.resident} + worker ${worker.resident} = ${together} MB, ${together - shared} MB where Node itself counts once`;
}

async function bare(bench: Bench): Promise<string> {
  const { oneCall, furtherCall } = await temporalAlone(bench.stack);
  const { one, perSecond } = await writesAlone(bench.cluster, kubectlFor(bench.stack));
  return [
    `Temporal: p50 ${oneCall.toFixed(1)} ms for a workflow of one call, ${furtherCall.toFixed(1)} ms for each further call`,
    `API server: p50 ${one.toFixed(1)} ms for ARK's four writes of a Query; with its seven Events ${perSecond.toFixed(1)} Queries a second`,
  ].join('; ');
}

async function kill(bench: Bench): Promise<string> {
  bench.setDelay(1_000);
  const names = await create(bench, 'killed', 20, 'team', 'eight');
  await waitUntil(() => bench.model.total().finished > 20, { what: 'calls', timeoutMs: 60_000 });
  const before = bench.model.total().started;
  const killedMs = performance.now();
  await bench.stack.kill('worker', 'SIGKILL');
  await waitUntil(() => bench.model.total().started > before, {
    what: 'a run to go on',
    timeoutMs: 60_000,
    everyMs: 10,
  });
  const firstMs = performance.now() - killedMs;
  await waitUntil(
    () => [...bench.model.calls().values()].every(({ started, finished }) => finished > 0 || started > 1),
    {
      what: 'every call in flight to be asked again',
      timeoutMs: 60_000,
      everyMs: 10,
    },
  );
  const lastMs = performance.now() - killedMs;
  await allDone(bench, new Set(names), 300_000);
  return `after SIGKILL of the worker the first call went out after ${Math.round(firstMs)} ms, the last one cut off was asked again after ${Math.round(lastMs)} ms`;
}

async function burst(bench: Bench): Promise<string> {
  bench.setDelay(500);
  const startedMs = performance.now();
  const names = new Set(await create(bench, 'burst', burstSize, 'agent', 'ann'));
  await allDone(bench, names, 900_000);
  const seconds = (performance.now() - startedMs) / 1000;
  return `${burstSize} Queries done in ${seconds.toFixed(1)} s: ${(burstSize / seconds).toFixed(1)} a second`;
}

/** Milliseconds from create to `done`, as a watcher sees it, of Queries made one after the other. */
async function times(
  bench: Bench,
  prefix: string,
  count: number,
  type: string,
  target: string,
): Promise<number[]> {
  const watch = watchPhases(bench);
  try {
    await watch.open;
    return await timed(count, async (n) => {
      const name = `${prefix}-${n}`;
      const done = watch.whenDone(name);
      await bench.cluster.request('POST', queriesPath, { body: query(name, type, target) });
      await done;
    });
  } finally {
    watch.stop();
  }
}

/** One watch for all Queries, as an informer has it; `open` resolves with the first object or bookmark it is sent. */
function watchPhases({ cluster: { stream } }: Bench) {
  const stopping = new AbortController();
  const opened = Promise.withResolvers<void>();
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const failed = (error: Error): void => {
    opened.reject(error);
    for (const { reject } of waiting.values()) reject(error);
  };
  stream(queriesPath, {
    query: {
      watch: true,
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
    },
    silenceMsMax: 120_000,
    signal: stopping.signal,
    onLine(line) {
      opened.resolve();
      const { object } = JSON.parse(line) as WatchEvent;
      const { name = '' } = object.metadata;
      if (object.status?.phase === 'done') waiting.get(name)?.resolve();
      if (object.status?.phase === 'error') waiting.get(name)?.reject(new Error(object.status.error));
    },
  }).catch((error: unknown) => {
    if (!stopping.signal.aborted) failed(error as Error);
  });
  return {
    open: opened.promise,
    stop: () => stopping.abort(),
    whenDone(name: string): Promise<void> {
      const end = Promise.withResolvers<void>();
      waiting.set(name, end);
      return end.promise.finally(() => waiting.delete(name));
    },
  };
}

async function create(
  { cluster: { request } }: Bench,
  prefix: string,
  count: number,
  type: string,
  target: string,
): Promise<string[]> {
  const names = Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
  await allAtOnce(names, (name) => request('POST', queriesPath, { body: query(name, type, target) }));
  return names;
}

/** Counts by watching, so that counting costs little; a Query that ends otherwise is an error. */
async function allDone({ cluster: { stream } }: Bench, names: Set<string>, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (names.size > 0) {
    if (performance.now() > deadline)
      throw new Error(`${names.size} Queries are not done after ${timeoutMs / 1000} s`);
    await stream(queriesPath, {
      query: { watch: true, timeoutSeconds: 30 },
      silenceMsMax: 40_000,
      onLine(line) {
        const { object } = JSON.parse(line) as WatchEvent;
        if (object.status?.phase === 'error')
          throw new Error(`${object.metadata.name}: ${object.status.error}`);
        if (object.status?.phase === 'done') names.delete(object.metadata.name ?? '');
        if (names.size === 0) throw allSeen;
      },
    }).catch((error: unknown) => {
      if (error !== allSeen && (error as Error).cause !== allSeen) throw error;
    });
  }
}

function query(name: string, type: string, target: string) {
  return {
    apiVersion: 'ark.mckinsey.com/v1alpha1',
    kind: 'Query',
    metadata: { name, namespace: 'default' },
    spec: { input: `question ${name}`, timeout: '20m', targets: [{ type, name: target }] },
  };
}

function definitions(): string {
  const eight = Array.from({ length: 8 }, (_, n) => `member-${n}`);
  const object = (kind: string, name: string, spec: object): string =>
    JSON.stringify({ apiVersion: 'ark.mckinsey.com/v1alpha1', kind, metadata: { name }, spec });
  const members = eight.map((name) => ({ type: 'agent', name }));
  return [
    object('Agent', 'ann', { prompt: 'You are ann.' }),
    ...eight.map((name) => object('Agent', name, { prompt: `You are ${name}.` })),
    object('Team', 'eight', { strategy: 'sequential', members }),
  ].join('\n');
}

/** The processor time each process takes from now on, for each thing done: a busy machine changes it little. */
async function cpuSpent({ processes: names, pid }: Stack): Promise<(things: number) => Promise<string>> {
  const read = () => Promise.all(names.map((name) => cpuMs(pid(name))));
  const before = await read();
  return async (things) => {
    const after = await read();
    return names
      .map((name, i) => `${name} ${(((after[i] ?? 0) - (before[i] ?? 0)) / things).toFixed(1)} ms`)
      .join(', ');
  };
}

/** User and system time of a process (proc(5): fields 14 and 15 of stat, in ticks of 10 ms). */
async function cpuMs(pid: number | undefined): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Megabytes in memory; `shared` are the unchanged pages of Node itself, which all its processes have together. */
async function memory(pid: number | undefined): Promise<{ resident: number; shared: number }> {
  let resident = 0;
  let shared = 0;
  for (const mapping of (await readFile(`/proc/${pid}/smaps`, 'utf8')).split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/)) {
    const kB = (field: string): number =>
      Number(new RegExp(`^${field}: +(\\d+)`, 'm').exec(mapping)?.[1] ?? 0);
    resident += kB('Rss');
    if (/\/node\n/.test(mapping)) shared += kB('Rss') - kB('Private_Dirty');
  }
  return { resident: Math.round(resident / 1024), shared: Math.round(shared / 1024) };
}
