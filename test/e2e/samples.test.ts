import { readdir } from 'node:fs/promises';
import { stringify } from 'yaml';
import type { ChatBody } from '../../src/dev/chat-wire.ts';
import { ended, statusOf, withSampleServices } from './sample-services.ts';
import { withStack } from './stack.ts';

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
  [
    '13-mcp.yaml',
    'marathon',
    'done',
    ['agent/coach'],
    /^I looked it up and found: 26\.1 miles\. As the running coach: /,
  ],
  ['14-a2a.yaml', 'haiku', 'done', ['agent/haiku-poet'], /sea, please\.\nPetals/],
  ['15-engine.yaml', 'clock', 'done', ['agent/clockmaker'], /clockmaker, run by an engine/],
  ['16-evaluators.yaml', 'lighthouse', 'done', ['agent/keeper'], /keeper/],
  [
    '17-jq.yaml',
    'set-sail',
    'done',
    ['agent/sailor'],
    /^I looked it up and found: "snow showers, 17\.6 °F"\. As the sailor: /,
  ],
  [
    '18-output-schema.yaml',
    'ticket',
    'done',
    ['agent/triage'],
    /^\{"customers":3,"product":"lamp","severity":"high"\}$/,
  ],
  ['19-streaming.yaml', 'tale', 'done', ['agent/storyteller'], /^As the storyteller: .*lamp/],
  [
    '20-on-error.yaml',
    'departure',
    'done',
    ['agent/harbour-master'],
    /^I could not look it up\. As the harbour master: /,
  ],
  [
    '21-newer-spellings.yaml',
    'lesson',
    'done',
    ['team/school'],
    /^As the teacher, going on from what encyclopaedist/,
  ],
] as const;

/** Their agents answer without a model of ours. */
const withoutModel: ReadonlySet<string> = new Set(['14-a2a.yaml', '15-engine.yaml']);

test('every sample with a Query is applied here', async () => {
  const folder = new URL('../../samples/', import.meta.url);
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml') && !name.startsWith('00-'));
  expect(samples.map(([file]) => file)).toEqual(files.toSorted());
});

test.each(samples)('%s: Query %s ends %s', async (file, query, phase, targets, answer) => {
  await cluster.kubectl(['apply', '-f', '-'], await services.sample(file));
  const status = await ended(cluster, query);

  expect({ phase: status.phase, error: status.error }).toEqual({
    phase,
    error: phase === 'error' ? 'team round-robin MaxTurns reached debate' : undefined,
  });
  expect(status.responses?.map(({ target }) => `${target.type}/${target.name}`)).toEqual(targets);
  expect(status.responses?.[0]?.content).toMatch(answer);
  expect(status.conditions?.[0]).toMatchObject({ type: 'Completed', status: 'True' });
  const { promptTokens = 0, completionTokens = 0, totalTokens = 0, modelCalls = 0 } = status.tokenUsage ?? {};
  expect(promptTokens + completionTokens).toBe(totalTokens);
  if (!withoutModel.has(file)) expect(modelCalls).toBeGreaterThan(0);
});

test('kubectl wait and the printed columns say the same', async () => {
  await cluster.kubectl(['wait', '--for=condition=Completed', 'query/hello', '--timeout=120s']);
  const table = await cluster.kubectl(['get', 'query', 'hello']);
  expect(table).toMatch(/^NAME\s+PHASE\s+DURATION\s+EVALUATIONS\s+AGE\nhello\s+done\s+\S+s\s/);
});

test('the second Query of a session knows what was said in the first', async () => {
  const { responses = [] } = await statusOf(cluster, 'introduction');
  const first = await services.sample('12-memory.yaml');
  await cluster.kubectl(['apply', '-f', '-'], first.replaceAll('name: introduction', 'name: recall'));
  await ended(cluster, 'recall');

  const question = 'I like short novels about the sea. What should I read next?';
  // The controller may ask, too, whether the model answers.
  const heard = services.model.requests.findLast(({ key }) => !key.startsWith('probe-'))?.body ?? '{}';
  expect((JSON.parse(heard) as ChatBody).messages.map(({ role, content }) => [role, content])).toEqual([
    ['system', expect.stringContaining('You are a librarian')],
    ['user', question],
    ['assistant', responses[0]?.content],
    ['user', question],
  ]);
});

test('the tools of an MCP server are Tools that can be asked by themselves', async () => {
  await cluster.kubectl(['wait', '--for=condition=Ready', 'mcpserver/calculator', '--timeout=120s']);
  const tools = await cluster.kubectl(['get', 'tools', '-l', 'mcp/server=calculator', '-o', 'name']);
  expect(tools.trim().split('\n')).toEqual([
    'tool.ark.mckinsey.com/calculator-convert',
    'tool.ark.mckinsey.com/calculator-days-between',
  ]);

  const input = '{"from": "2026-01-01", "to": "2026-12-25"}';
  const targets = [{ type: 'tool', name: 'calculator-days-between' }];
  await cluster.kubectl(['apply', '-f', '-'], queryOf('days', { input, targets }));
  const status = await ended(cluster, 'days');
  expect(status.responses?.[0]).toMatchObject({ phase: 'done', content: '358 days' });
});

test('an answer can be read while it is written', async () => {
  const whole = (await statusOf(cluster, 'tale')).responses?.[0]?.content;
  const words = 'from-beginning=true&wait-for-query=2m';
  const response = await fetch(`${cluster.stack.brokerUrl}/stream/tale?${words}`);
  const data = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, text]) => text as string);
  expect(data.at(-1)).toBe('[DONE]');

  const chunks = data.slice(0, -1).map((text) => JSON.parse(text) as Chunk);
  const parts = chunks.flatMap(({ choices = [] }) => choices.map(({ delta }) => delta?.content ?? ''));
  expect(parts.filter(Boolean).length).toBeGreaterThan(5);
  expect(parts.join('')).toBe(whole);
  expect(chunks[0]?.ark).toMatchObject({ query: 'tale', target: 'agent/storyteller', agent: 'storyteller' });
});
interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
  readonly ark?: object;
}

test('newer spellings mean what they say: headers, parameters of the Query, the conversation', async () => {
  const search = services.tools.requests.find(({ headers }) => headers['x-reader'] === 'arkwright');
  expect(search?.headers['content-type']).toBe('application/json');
  expect(JSON.parse(search?.body ?? '{}')).toEqual({ topic: 'Bergen', language: 'en' });

  const prompts = services.model.requests.map(
    ({ body }) => (JSON.parse(body || '{}') as ChatBody).messages?.[0],
  );
  const ofThisOne = prompts.find((prompt) => prompt?.content?.includes('encyclopaedist'));
  expect(ofThisOne?.content).toContain('You are an encyclopaedist for children.');
  expect(await statusOf(cluster, 'lesson')).toMatchObject({ conversationId: 'bergen' });
});

test('answers of sample 16 are judged in every way', async () => {
  const { evaluations } = await statusOf(cluster, 'lighthouse');
  expect(evaluations).toMatchObject([{ evaluatorName: 'judge', passed: true }]);
  const done = '--for=jsonpath={.status.phase}=done';
  for (const name of ['judge-lighthouse-eval', 'short-answer', 'whole-query'])
    await cluster.kubectl(['wait', done, `evaluation/${name}`, '--timeout=120s']);
  const table = await cluster.kubectl(['get', 'evaluations']);
  expect(table).toMatch(/short-answer\s+direct\s+done\s+0\.4\s+false/);
  expect(table).toMatch(/whole-query\s+query\s+done\s+1\s+true/);
});

test('no finished call was made again', () => {
  expect(services.model.total().repeated).toBe(0);
  expect(services.tools.total().repeated).toBe(0);
});

const queryOf = (name: string, spec: object): string =>
  stringify({ apiVersion: 'ark.mckinsey.com/v1alpha1', kind: 'Query', metadata: { name }, spec });
