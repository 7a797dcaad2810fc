import { asStep } from '../../src/activities/context.ts';
import { createDefinitions, type Definitions } from '../../src/activities/definitions.ts';
import type { QuestionDefinition } from '../../src/api/snapshot.ts';
import { FakeRuns, fakeRun, inActivity, type FakeRun } from '../fakes/activity.ts';

const definition = (text: string): QuestionDefinition => ({
  kind: 'question',
  question: { text },
  access: { namespace: 'default', serviceAccount: 'default' },
});
const get = (definitions: Definitions, run: FakeRun, runs: FakeRuns, hash: string) =>
  inActivity({ run: run.ref, runs }, () => asStep((step) => definitions.get(step, hash, 'question')));

test('a hundred steps of two runs ask once, and nobody asks again', async () => {
  const [one, other] = [fakeRun('one'), fakeRun('other')];
  one.definitions['h'] = other.definitions['h'] = definition('Hi');
  const runs = new FakeRuns(one, other);
  const definitions = createDefinitions();
  await Promise.all(Array.from({ length: 100 }, (_, n) => get(definitions, n % 2 ? one : other, runs, 'h')));
  expect(await get(definitions, one, runs, 'h')).toEqual(definition('Hi'));
  expect(runs.queries).toHaveLength(1);
});

test('a run that left its definitions behind says where', async () => {
  const [root, child, grandchild] = [fakeRun('root'), fakeRun('child'), fakeRun('grandchild')];
  root.definitions['h'] = definition('Hi');
  child.definitions['h'] = root.ref;
  grandchild.definitions['h'] = child.ref;
  const runs = new FakeRuns(root, child, grandchild);
  expect(await get(createDefinitions(), grandchild, runs, 'h')).toEqual(definition('Hi'));
});

test('runs that point at each other are not followed for ever', async () => {
  const [one, other] = [fakeRun('one'), fakeRun('other')];
  one.definitions['h'] = other.ref;
  other.definitions['h'] = one.ref;
  await expect(get(createDefinitions(), one, new FakeRuns(one, other), 'h')).rejects.toMatchObject({
    type: 'DefinitionNotFound',
    nonRetryable: true,
  });
});

test('a run that knows is not failed by one that does not', async () => {
  const [ignorant, knowing] = [fakeRun('ignorant'), fakeRun('knowing')];
  knowing.definitions['h'] = definition('Hi');
  const runs = new FakeRuns(ignorant, knowing);
  const definitions = createDefinitions();
  const [lost, found] = await Promise.allSettled([
    get(definitions, ignorant, runs, 'h'),
    get(definitions, knowing, runs, 'h'),
  ]);
  expect(lost).toMatchObject({ status: 'rejected', reason: { type: 'DefinitionNotFound' } });
  expect(found).toEqual({ status: 'fulfilled', value: definition('Hi') });
});

test('a run that does not answer may answer the next attempt', async () => {
  const run = fakeRun('r');
  run.definitions['h'] = definition('Hi');
  const runs = new FakeRuns(run);
  const definitions = createDefinitions();
  runs.failing = () => new Error('deadline exceeded');
  await expect(get(definitions, run, runs, 'h')).rejects.toMatchObject({
    type: 'TranscriptUnavailable',
    nonRetryable: false,
  });
  runs.failing = () => undefined;
  expect(await get(definitions, run, runs, 'h')).toEqual(definition('Hi'));
});

test('what is known stays within its bound', async () => {
  const run = fakeRun('r');
  for (let n = 0; n < 10; n++) run.definitions[`h${n}`] = definition(`question ${n}`);
  const runs = new FakeRuns(run);
  const definitions = createDefinitions({ definitionsMax: 3, bytesMax: 1_000_000 });
  for (let n = 0; n < 10; n++) await get(definitions, run, runs, `h${n}`);
  await get(definitions, run, runs, 'h9');
  expect(runs.queries).toHaveLength(10);
  await get(definitions, run, runs, 'h0');
  expect(runs.queries).toHaveLength(11);
});

test('a definition of another kind is refused', async () => {
  const run = fakeRun('r');
  run.definitions['h'] = definition('Hi');
  await expect(
    inActivity({ run: run.ref, runs: new FakeRuns(run) }, () =>
      asStep((step) => createDefinitions().get(step, 'h', 'agent', 'model')),
    ),
  ).rejects.toMatchObject({
    type: 'DefinitionInvalid',
    message: 'definition h is of kind question, not agent or model',
  });
});
