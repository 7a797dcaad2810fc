import { createActivities } from '../../src/activities/create-activities.ts';
import type { JsonSchema } from '../../src/api/snapshot.ts';
import { startScriptedModel, type ScriptedAnswer, type ScriptedModel } from '../../src/dev/scripted-model.ts';
import { FakeRuns, fakeRun, inActivity } from '../fakes/activity.ts';
import { access, portsWith } from '../fakes/ports.ts';

let answer: ScriptedAnswer;
let server: ScriptedModel;
beforeAll(async () => {
  server = await startScriptedModel({ script: () => answer });
});
afterAll(() => server.close());

const weather: JsonSchema = {
  type: 'object',
  properties: { degrees: { type: 'number' } },
  required: ['degrees'],
};

/** What the run is told of an answer of an agent that has this schema. */
async function problemOf(scripted: ScriptedAnswer, outputSchema = weather) {
  answer = scripted;
  const run = fakeRun('run-1');
  const value = { value: 'unused' };
  run.definitions['agent'] = {
    kind: 'agent',
    namespace: 'default',
    name: 'bot',
    prompt: { text: '' },
    model: {
      namespace: 'default',
      name: 'main',
      type: 'openai',
      model: value,
      baseUrl: { value: server.baseUrl },
      apiKey: value,
      properties: {},
    },
    tools: [],
    outputSchema,
    access,
  };
  const { callModel } = createActivities(portsWith());
  const { problem } = await inActivity({ run: run.ref, runs: new FakeRuns(run) }, () =>
    callModel({ definition: 'agent', question: { hash: 'q', text: 'Hi' }, slot: 0 }),
  );
  return problem;
}

test.each<[string, ScriptedAnswer]>([
  ['has the shape', { content: '{"degrees":4}' }],
  ['has it within a fence', { content: '```json\n{"degrees":4}\n```' }],
  ['asks for a tool first', { content: 'let me see', toolCalls: [{ name: 'noop' }] }],
])('nothing is wrong with an answer that %s', async (_, scripted) => {
  expect(await problemOf(scripted)).toBeUndefined();
});

test.each<[string, ScriptedAnswer, string]>([
  ['is no JSON', { content: '4 degrees' }, 'The answer is not JSON: '],
  [
    'has another shape',
    { content: '{"degrees":"4"}' },
    'The answer does not have the shape asked for: /degrees: must be number.',
  ],
  ['is empty', { content: '' }, 'The answer is not JSON: '],
])('the model can be told what is wrong with an answer that %s', async (_, scripted, words) => {
  expect(await problemOf(scripted)).toContain(words);
});

test('a schema that is none forbids nothing', async () => {
  expect(await problemOf({ content: 'anything' }, { type: 'nonsense' })).toBeUndefined();
});
