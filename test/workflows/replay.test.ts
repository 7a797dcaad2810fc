import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, Runtime } from '@temporalio/worker';
import { parseHistory, replay } from '../../src/worker/replay.ts';
import { cases } from '../histories/cases.ts';

const folder = fileURLToPath(new URL('../histories/', import.meta.url));
const read = async (name: string) => parseHistory(await readFile(join(folder, `${name}.json`), 'utf8'));
const recorded = (await readdir(folder))
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.replace('.json', ''));

const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
beforeAll(() => Runtime.install({ logger: quiet }));

test('every case has a recorded history', () => {
  expect(recorded).toEqual(expect.arrayContaining(Object.keys(cases)));
});

test.each(recorded)('today’s code still decides what it decided in %s', async (name) => {
  const { divergence, events } = await replay(await read(name), `query:default:${name}`);
  expect(events).toBeGreaterThan(5);
  expect(divergence).toBeUndefined();
});

test('a change of an id is caught, and the place is named', async () => {
  // Inside of the project, where the copy finds its dependencies.
  const copy = await mkdtemp(fileURLToPath(new URL('../../.cache/changed-workflows-', import.meta.url)));
  try {
    const source = fileURLToPath(new URL('../../src/', import.meta.url));
    for (const part of ['api', 'workflows'])
      await cp(join(source, part), join(copy, part), { recursive: true });
    const ids = join(copy, 'workflows', 'ids.ts');
    const changed = (await readFile(ids, 'utf8')).replace('`t${', '`turn-${');
    await writeFile(ids, changed);
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(copy, 'workflows', 'index.ts'),
      logger: quiet,
    });
    const codePath = join(copy, 'bundle.js');
    await writeFile(codePath, code);

    const { divergence } = await replay(await read('sequential-ok'), 'query', Promise.resolve({ codePath }));
    expect(divergence).toMatch(/t001\.ann\.model\.1/);
  } finally {
    await rm(copy, { recursive: true });
  }
});

test('a replay tells what was decided, turn by turn', async () => {
  const { decisions } = await replay(await read('sequential-failed'), 'query');
  expect(decisions).toMatchObject([
    {
      id: 't001.ann.model.1',
      summary: 'turn 1 · ann · model-of-ann',
      outcome: 'answered',
      detail: 'ann 1',
      tokens: 15,
    },
    { id: 't002.bob.model.1', outcome: 'failed', detail: expect.stringContaining('ModelUnauthorized') },
  ]);
});

test.each([
  ['memory-ok', 'memory.read', 'memory.read 1'],
  ['memory-ok', 'memory.write.1', ''],
  ['engine-ok', 't001.ann.engine.1', 'ann 1'],
  ['evaluators-ok', 'evaluator.1', 'first 1'],
  ['output-repaired', 't001.ann.model.2', 'bad · It is bad.'],
])('of %s it tells what %s answered', async (name, id, detail) => {
  const { decisions } = await replay(await read(name), 'query');
  expect(decisions.find((decision) => decision.id === id)).toMatchObject({ outcome: 'answered', detail });
});

test('a replay names the runs of nested teams', async () => {
  const { nested } = await replay(await read('graph-nested'), 'query');
  expect(nested).toEqual([
    { workflowId: expect.stringMatching(/^team:default:.*:t002\.trip$/), runId: expect.any(String) },
  ]);
});
