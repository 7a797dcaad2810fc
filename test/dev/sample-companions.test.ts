import { createA2a } from '../../src/adapters/a2a/create-a2a.ts';
import { createEngines } from '../../src/adapters/engines/create-engines.ts';
import { createEvaluators } from '../../src/adapters/evaluators/create-evaluators.ts';
import type { JournaledServer } from '../../src/dev/journaled-server.ts';
import { startSampleA2a } from '../../src/dev/sample-a2a.ts';
import { startSampleEngine } from '../../src/dev/sample-engine.ts';
import { startSampleEvaluator } from '../../src/dev/sample-evaluator.ts';

const a2a = createA2a({ pollMs: 20 });
const engines = createEngines(a2a);
const evaluators = createEvaluators();
const started: JournaledServer[] = [];
const options = { signal: new AbortController().signal, timeoutMs: 60_000, idempotencyKey: 'k' };

afterAll(() => Promise.all([a2a, engines, evaluators, ...started].map((each) => each.close())));

async function url(start: (options: { port: number }) => Promise<JournaledServer>): Promise<string> {
  const server = await start({ port: 0 });
  started.push(server);
  return server.url;
}

test('the poet of sample 14 shows its card and answers by a task', async () => {
  const server = { address: await url(startSampleA2a), headers: [] };
  expect(await a2a.card(server, options.signal)).toMatchObject({
    name: 'Haiku Poet',
    skills: [{ id: 'haiku' }],
  });
  expect(await a2a.send(server, 'Of the sea', options)).toBe(
    'You ask, and I hear\nOf the sea\nPetals on the screen',
  );
});

test('the engine of sample 15 runs an agent', async () => {
  const engine = { address: await url(startSampleEngine), protocol: 'execute' } as const;
  const reply = await engines.execute(
    engine,
    {
      agent: { namespace: 'default', name: 'clerk', prompt: 'Be brief.', description: '', parameters: [] },
      model: {
        type: 'openai',
        namespace: 'default',
        name: 'default',
        model: 'm',
        baseUrl: 'http://llm',
        apiKey: 'k',
        properties: {},
      },
      userInput: 'Open today?',
      history: [],
      tools: [],
    },
    options,
  );
  expect(reply).toEqual({
    messages: [{ role: 'assistant', content: 'clerk, run by an engine, was asked: Open today?' }],
    usage: { promptTokens: 4, completionTokens: 2, totalTokens: 6 },
  });
});

test.each([
  ['of one that has enough words', { responses: [{ content: 'one two three four five six' }] }, '100', true],
  [
    'of the shortest of several',
    { responses: [{ content: 'one two' }, { content: 'a b c d e f' }] },
    '40',
    false,
  ],
  ['of an Evaluation', { type: 'direct', config: { input: 'x', output: 'only three words' } }, '60', false],
  ['of a Query it cannot see', { type: 'query', config: { queryRef: { name: 'q' } } }, '100', true],
])('the evaluator of sample 16 judges the answer %s', async (_, request, score, passed) => {
  const address = `${await url(startSampleEvaluator)}/evaluate`;
  expect(await evaluators.evaluate(address, request, options)).toMatchObject({ score, passed });
});
