import { createActivities } from '../../src/activities/create-activities.ts';
import type { SelectorDefinition } from '../../src/api/snapshot.ts';
import { startScriptedModel, type ScriptedAnswer, type ScriptedModel } from '../../src/dev/scripted-model.ts';
import { FakeRuns, fakeRun, inActivity } from '../fakes/activity.ts';
import { access, portsWith } from '../fakes/ports.ts';

let answer: ScriptedAnswer | undefined;
let server: ScriptedModel;
beforeAll(async () => {
  const { plausibleReply } = await import('../../src/dev/plausible-reply.ts');
  server = await startScriptedModel({ script: ({ body }) => answer ?? plausibleReply(body) });
});
beforeEach(() => {
  answer = undefined;
});
afterAll(() => server.close());

function choose(prompt?: string) {
  const run = fakeRun('run-1', [
    { role: 'user', content: 'From memory' },
    { role: 'assistant', name: 'ann', content: '', toolCalls: [{ id: 'c1', name: 't', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'c1', content: 'left out' },
    { role: 'assistant', name: 'ann', content: 'A plan' },
    { role: 'system', content: 'left out, too' },
    { role: 'assistant', content: 'nameless' },
  ]);
  const definition: SelectorDefinition = {
    kind: 'selector',
    namespace: 'default',
    team: 'crew',
    model: {
      namespace: 'default',
      name: 'main',
      type: 'openai',
      model: { value: 'm1' },
      baseUrl: { value: server.baseUrl },
      apiKey: { value: 'k' },
      properties: { temperature: { value: '0' } },
    },
    members: [{ name: 'ann', description: 'plans' }, { name: 'bob' }],
    access,
    ...(prompt !== undefined && { prompt }),
  };
  run.definitions['selector'] = definition;
  const { selectSpeaker } = createActivities(portsWith());
  return inActivity({ run: run.ref, runs: new FakeRuns(run) }, () =>
    selectSpeaker({ definition: 'selector', before: [{ from: 0, to: 6 }] }),
  );
}
const lastBody = () =>
  JSON.parse(server.requests.at(-1)?.body ?? '') as { messages: { role: string; content: string }[] };
const lastMessages = () => lastBody().messages;

test('the model is told roles, participants and history, and asked who is next', async () => {
  answer = { content: '  bob\n', usage: { promptTokens: 5, completionTokens: 1 } };
  expect(await choose('R={{.Roles}} P={{.Participants}} H={{.History}}')).toEqual({
    answer: 'bob',
    usage: { promptTokens: 5, completionTokens: 1, totalTokens: 6 },
  });
  expect(lastMessages()).toEqual([
    {
      role: 'system',
      content:
        'R=ann: plans, bob P=ann, bob ' +
        'H=# user:\nFrom memory\n\n# ann:\n\n\n# ann:\nA plan\n\n# :\nnameless\n',
    },
    { role: 'user', content: 'Select the next participant to respond.' },
  ]);
});

test('the model has its own properties, and neither tools nor a schema', async () => {
  await choose();
  expect(Object.keys(lastBody()).toSorted()).toEqual(['messages', 'model', 'n', 'temperature']);
  expect(lastBody()).toMatchObject({ model: 'm1', temperature: 0 });
});

test('the default prompt says all of it, and a model that follows it names the next member', async () => {
  expect((await choose()).answer).toBe('bob');
  const [system] = lastMessages();
  for (const part of ['ann: plans, bob', 'Participants: ann, bob\n', '# ann:\nA plan\n'])
    expect(system?.content).toContain(part);
});

test.each<[string, ScriptedAnswer, object]>([
  [
    'no choice',
    { status: 200, body: { choices: [] } },
    { type: 'ModelReplyInvalid', message: 'selector model returned no choices' },
  ],
  [
    'a wrong key',
    { status: 401 },
    { type: 'ModelUnauthorized', message: expect.stringMatching(/^selector model call failed: POST/) },
  ],
])('%s', async (_, scripted, failure) => {
  answer = scripted;
  await expect(choose()).rejects.toMatchObject(failure);
});

test.each(['{{.Topic}}', '{{.Roles'])('the prompt %j is refused', async (prompt) => {
  await expect(choose(prompt)).rejects.toMatchObject({ type: 'TemplateInvalid', nonRetryable: true });
});
