import { readdir } from 'node:fs/promises';
import { ended, statusOf, withSampleServices } from './sample-services.ts';
import { waitFor, withStack } from './stack.ts';

const cluster = withStack();
const services = withSampleServices(cluster);

/** What becomes of each sample's Query: its phase, its targets, and what its answer must say. */
const samples = [
  ['01-agent.yaml', 'hello', 'done', ['agent/guide'], /Lisbon/],
  ['02-tool.yaml', 'umbrella', 'done', ['agent/forecaster'], /looked it up.*Oslo/s],
  ['03-sequential.yaml', 'article', 'done', ['team/newsroom'], /editor.*critic/s],
  ['04-parallel.yaml', 'three-views', 'done', ['team/three-views'], /realist/],
  ['05-round-robin.yaml', 'naming', 'done', ['team/naming'], /judge/],
  ['06-selector.yaml', 'panel', 'done', ['team/panel'], /moderator/],
  ['07-graph.yaml', 'support', 'done', ['team/support'], /correspondent.*engineer/s],
  ['08-team-of-teams.yaml', 'weekend', 'done', ['team/travel-office'], /planner.*accountant/s],
  [
    '09-parameters.yaml',
    'opening-hours',
    'done',
    ['agent/clerk'],
    /clerk in Bergen.*A known customer asks: when are you open on Saturday/s,
  ],
  [
    '10-targets.yaml',
    'olive-oil',
    'done',
    ['agent/historian', 'model/default', 'agent/biologist', 'agent/chemist'],
    /historian/,
  ],
  ['11-limits.yaml', 'debate', 'error', ['team/debate'], /debater/],
  ['12-memory.yaml', 'introduction', 'done', ['agent/librarian'], /librarian/],
  ['14-a2a.yaml', 'haiku', 'done', ['agent/haiku-poet'], /sea, please\.\nPetals/],
  ['15-engine.yaml', 'clock', 'done', ['agent/clockmaker'], /clockmaker, run by an engine/],
  ['16-evaluators.yaml', 'lighthouse', 'done', ['agent/keeper'], /keeper/],
] as const;

/** The webhook refuses a Query until the Agent that a server offers is there: applied again, as a person would. */
const applied = (manifest: string): Promise<boolean> =>
  waitFor(
    () =>
      cluster.kubectl(['apply', '-f', '-'], manifest).then(
        () => true,
        (error: unknown) => {
          if (/denied the request: target.* does not exist/.test(String(error))) return false;
          throw error;
        },
      ),
    { what: 'the sample to be taken', timeoutMs: 30_000, everyMs: 500 },
  );

/** Their agents answer without a model of ours. */
const withoutModel: ReadonlySet<string> = new Set(['14-a2a.yaml', '15-engine.yaml']);

test('every sample with a Query is applied here', async () => {
  const folder = new URL('../../samples/', import.meta.url);
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml') && !name.startsWith('00-'));
  expect(samples.map(([file]) => file)).toEqual(files.toSorted());
});

test.each(samples)(
  '%s: Query %s ends %s',
  async (file, query, phase, targets, answer) => {
    await applied(await services.sample(file));
    const status = await ended(cluster, query);

    expect({ phase: status.phase, error: status.error }).toEqual({
      phase,
      error: phase === 'error' ? 'team round-robin MaxTurns reached debate' : undefined,
    });
    expect(status.responses?.map(({ target }) => `${target.type}/${target.name}`)).toEqual(targets);
    expect(status.responses?.[0]?.content).toMatch(answer);
    expect(status.conditions?.[0]).toMatchObject({ type: 'Completed', status: 'True' });
    const {
      promptTokens = 0,
      completionTokens = 0,
      totalTokens = 0,
      modelCalls = 0,
    } = status.tokenUsage ?? {};
    expect(promptTokens + completionTokens).toBe(totalTokens);
    if (!withoutModel.has(file)) expect(modelCalls).toBeGreaterThan(0);
  },
  180_000,
);

test('kubectl wait and the printed columns say the same', async () => {
  await cluster.kubectl(['wait', '--for=condition=Completed', 'query/hello', '--timeout=10s']);
  const table = await cluster.kubectl(['get', 'query', 'hello']);
  expect(table).toMatch(/^NAME\s+PHASE\s+DURATION\s+EVALUATIONS\s+AGE\nhello\s+done\s+\S+s\s/);
}, 60_000);

test('answers of sample 16 are judged in all three ways', async () => {
  const { evaluations } = await statusOf(cluster, 'lighthouse');
  expect(evaluations).toMatchObject([{ evaluatorName: 'judge', passed: true }]);
  const done = '--for=jsonpath={.status.phase}=done';
  for (const name of ['judge-lighthouse-eval', 'short-answer'])
    await cluster.kubectl(['wait', done, `evaluation/${name}`, '--timeout=30s']);
  const table = await cluster.kubectl(['get', 'evaluation', 'short-answer']);
  expect(table).toMatch(/short-answer\s+direct\s+done\s+0\.4\s+false/);
}, 90_000);

test('no finished call was made again', () => {
  expect(services.model.total().repeated).toBe(0);
  expect(services.tools.total().repeated).toBe(0);
});
