import { once } from 'node:events';
import type { ApplicationFailure } from '@temporalio/activity';
import { createActivities } from '../../src/activities/create-activities.ts';
import type { ModelEndpoint, ModelPort } from '../../src/activities/ports.ts';
import type { ModelCall } from '../../src/api/run.ts';
import type { AgentDefinition, OpenAiModelDefinition } from '../../src/api/snapshot.ts';
import type { Message } from '../../src/api/transcript.ts';
import { builtInTools } from '../../src/adapters/tools/built-in.ts';
import { startScriptedModel, type ScriptedAnswer, type ScriptedModel } from '../../src/dev/scripted-model.ts';
import { bytesOf, cancellation, FakeRuns, fakeRun, inActivity, type Attempt } from '../fakes/activity.ts';
import { access, portsWith, secretError } from '../fakes/ports.ts';

let answer: ScriptedAnswer;
let server: ScriptedModel;
beforeAll(async () => {
  server = await startScriptedModel({ script: () => answer });
});
beforeEach(() => {
  answer = { content: 'hello', usage: { promptTokens: 3, completionTokens: 1 } };
});
afterAll(() => server.close());

const secrets = { 'default/keys/main': 'canary-key', 'default/keys/who': 'canary-name' };
const keyRef = { secret: { namespace: 'default', name: 'keys', key: 'main' } };

const modelDefinition = (more: Partial<OpenAiModelDefinition> = {}): OpenAiModelDefinition => ({
  namespace: 'default',
  name: 'main',
  type: 'openai',
  model: { value: 'm1' },
  baseUrl: { value: server.baseUrl },
  apiKey: keyRef,
  properties: {},
  ...more,
});
const agent = (more: Partial<AgentDefinition> = {}): AgentDefinition => ({
  kind: 'agent',
  namespace: 'default',
  name: 'bot',
  prompt: { text: 'Be {{brief}}.' },
  model: modelDefinition(),
  tools: [],
  access,
  ...more,
});

/** A run of which two slots are said: by another agent, and by the bot itself. */
function world(definition = agent()) {
  const said: Message[] = [
    { role: 'assistant', name: 'other', content: 'I begin' },
    { role: 'assistant', name: 'bot', content: '', toolCalls: [{ id: 'c1', name: 't', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'c1', content: '4' },
  ];
  const run = fakeRun('run-1', said);
  run.definitions['agent'] = definition;
  run.definitions['model'] = { kind: 'model', model: modelDefinition(), access };
  run.definitions['question'] = { kind: 'question', question: { text: 'the long question' }, access };
  const runs = new FakeRuns(run);
  const activities = createActivities(portsWith(secrets));
  return {
    run,
    runs,
    activities,
    call: (more: Partial<ModelCall> = {}, attempt: Partial<Attempt> = {}) =>
      inActivity({ run: run.ref, runs, ...attempt }, () =>
        activities.callModel({
          definition: 'agent',
          question: { hash: 'question', text: 'Hi' },
          before: [],
          own: [],
          slot: 3,
          ...more,
        }),
      ),
  };
}
const lastBody = () =>
  JSON.parse(server.requests.at(-1)?.body ?? '') as { messages: unknown[]; response_format?: unknown };

test('an agent hears its prompt, what was said, the question, and itself; its answer bears its name', async () => {
  const { call } = world();
  const reply = await call({ before: [{ from: 0, to: 1 }], own: [{ from: 1, to: 3 }] });
  expect(lastBody().messages).toEqual([
    { role: 'system', content: 'Be {{brief}}.' },
    { role: 'assistant', name: 'other', content: 'I begin' },
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      name: 'bot',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 't', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: '4' },
  ]);
  expect(reply).toEqual({
    message: { role: 'assistant', name: 'bot', content: 'hello' },
    finishReason: 'stop',
    usage: { promptTokens: 3, completionTokens: 1, totalTokens: 4 },
  });
});

test('a model asked directly hears no prompt, and its answer bears no name', async () => {
  const { call } = world();
  const reply = await call({ definition: 'model', before: [{ from: 0, to: 1 }] });
  expect(lastBody().messages).toEqual([
    { role: 'assistant', name: 'other', content: 'I begin' },
    { role: 'user', content: 'Hi' },
  ]);
  expect(reply.message).toEqual({ role: 'assistant', content: 'hello' });
});

test('a prompt is said even where it is empty', async () => {
  await world(agent({ prompt: { text: '' } })).call();
  expect(lastBody().messages).toEqual([
    { role: 'system', content: '' },
    { role: 'user', content: 'Hi' },
  ]);
});

test('an answer is the answer, for whatever reason the model stopped there', async () => {
  const choice = { message: { role: 'assistant', content: 'cut o' }, finish_reason: 'length' };
  answer = { status: 200, body: { choices: [choice] } };
  expect(await world().call()).toEqual({
    message: { role: 'assistant', name: 'bot', content: 'cut o' },
    finishReason: 'length',
  });
});

test('a question that did not come along is asked for by its hash', async () => {
  const { call, runs } = world();
  await call({ question: { hash: 'question' } });
  expect(lastBody().messages.at(-1)).toEqual({ role: 'user', content: 'the long question' });
  expect(runs.queries).toContain('definition run-1 question');
});

test('templates are filled in with Secrets where they are used', async () => {
  const who = { secret: { namespace: 'default', name: 'keys', key: 'who' } };
  const { call, run } = world(
    agent({ prompt: { template: 'You are {{.who}}.', label: 'agent-prompt', parameters: { who } } }),
  );
  run.definitions['question'] = {
    kind: 'question',
    question: { template: 'Hi {{.who}}', label: 'query-input', parameters: { who } },
    access,
  };
  await call({ question: { hash: 'question' } });
  expect(lastBody().messages).toEqual([
    { role: 'system', content: 'You are canary-name.' },
    { role: 'user', content: 'Hi canary-name' },
  ]);
});

test.each<[string, Partial<AgentDefinition>, Partial<ModelCall>]>([
  ['at once', {}, {}],
  ['beside the tools', { tools: [builtInTools.noop] }, {}],
  ['after a tool was used', { tools: [builtInTools.noop] }, { own: [{ from: 1, to: 3 }] }],
])('an output schema is asked for under a name of at most 64 characters: %s', async (_, more, input) => {
  const { call } = world(agent({ name: 'x'.repeat(60), outputSchema: { type: 'object' }, ...more }));
  await call(input);
  expect(lastBody().response_format).toEqual({
    type: 'json_schema',
    json_schema: { name: `namespace-default-agent-${'x'.repeat(40)}`, schema: { type: 'object' } },
  });
});

test('a provider can tell a retry from a new question, and a re-run from both', async () => {
  const { call } = world();
  await call({}, { attempt: 1 });
  await call({}, { attempt: 2 });
  await call({}, { activityId: 't002.bot.model.1' });
  expect(server.requests.slice(-3).map(({ key }) => key)).toEqual([
    'run-1:t001.bot.model.1',
    'run-1:t001.bot.model.1',
    'run-1:t002.bot.model.1',
  ]);
});

test('the next call of the run finds this answer without a question', async () => {
  const { call, runs } = world();
  await call({ slot: 3 });
  runs.queries.length = 0;
  await call({ slot: 4, before: [{ from: 3, to: 4 }] });
  expect(runs.queries).toEqual([]);
  expect(lastBody().messages[1]).toEqual({ role: 'assistant', name: 'bot', content: 'hello' });
});

test('a second attempt forgets what the first remembered, until it has an answer of its own', async () => {
  const { call, run, runs } = world();
  await call({ slot: 3 });
  answer = { status: 500 };
  await call({ slot: 3 }, { attempt: 2 }).catch(() => undefined);
  run.slots[3] = [{ role: 'assistant', name: 'bot', content: 'answered elsewhere' }];
  answer = { content: 'hello' };
  await call({ slot: 4, before: [{ from: 3, to: 4 }] });
  expect(runs.queries).toContain('transcript run-1 3 4');
  expect(lastBody().messages[1]).toMatchObject({ content: 'answered elsewhere' });
});

test('an answer of several MiB fits into an activity result', async () => {
  answer = { content: '漢'.repeat(1024 * 1024) };
  const { call } = world();
  const reply = await call();
  expect(bytesOf(reply)).toBeLessThanOrEqual(1024 * 1024);
  expect(reply.message.content).toMatch(/\[cut: the answer was 3\.0 MiB, 1 MiB is kept\]$/);
});

describe('failures', () => {
  test.each<[string, ScriptedAnswer, object]>([
    [
      'busy',
      { status: 429, headers: { 'retry-after': '7' } },
      { type: 'ModelRateLimited', nonRetryable: false, nextRetryDelay: 7_000 },
    ],
    ['down', { status: 503 }, { type: 'ModelUnavailable', nonRetryable: false, details: [{ status: 503 }] }],
    ['a cut connection', 'cut', { type: 'ModelUnreachable', nonRetryable: false }],
    [
      'a bad request',
      { status: 400, body: { error: { message: 'no', code: 'bad' } } },
      { type: 'ModelBadRequest', nonRetryable: true, details: [{ status: 400, code: 'bad' }] },
    ],
    [
      'no choice',
      { status: 200, body: { choices: [] } },
      { type: 'ModelReplyInvalid', nonRetryable: true, message: 'agent default/bot received empty response' },
    ],
  ])('%s', async (_, scripted, failure) => {
    answer = scripted;
    await expect(world().call()).rejects.toMatchObject(failure);
  });

  test('of a model asked directly say so', async () => {
    answer = { status: 404 };
    await expect(world().call({ definition: 'model' })).rejects.toMatchObject({
      message: expect.stringMatching(/^model chat completion failed: POST "http.*": 404 Not Found/),
    });
    answer = { status: 200, body: { choices: [] } };
    await expect(world().call({ definition: 'model' })).rejects.toMatchObject({
      type: 'ModelReplyInvalid',
      message: 'model returned no completion choices',
    });
  });

  test('quote the provider, but no Secret', async () => {
    const who = { secret: { namespace: 'default', name: 'keys', key: 'who' } };
    answer = {
      status: 401,
      body: { error: { message: 'Incorrect key canary-key in "You are canary-name"', code: 'canary-key' } },
    };
    const { call } = world(
      agent({ prompt: { template: 'You are {{.who}}', label: 'agent-prompt', parameters: { who } } }),
    );
    const failure = (await call().catch((error: unknown) => error)) as ApplicationFailure;
    expect(failure.message).toContain('401 Unauthorized {"message":"Incorrect key [redacted] in');
    const { message, details, stack } = failure;
    expect(JSON.stringify([message, details, stack])).not.toContain('canary');
  });

  test('of Secrets and templates name what is missing', async () => {
    const missing = { secret: { namespace: 'default', name: 'keys', key: 'gone' } };
    const parameters = { who: missing };
    await expect(world(agent({ model: modelDefinition({ apiKey: missing }) })).call()).rejects.toMatchObject({
      type: 'SecretUnavailable',
      nonRetryable: true,
      message: 'failed to load model default/main: key gone not found in secret default/keys',
    });
    await expect(
      world(agent({ model: modelDefinition({ properties: { seed: missing } }) })).call(),
    ).rejects.toMatchObject({
      message: expect.stringContaining('failed to resolve OpenAI property seed: key gone'),
    });
    await expect(
      world(agent({ model: modelDefinition({ type: 'azure', properties: { seed: missing } }) })).call(),
    ).rejects.toMatchObject({
      message: expect.stringContaining('failed to resolve Azure property seed: key gone'),
    });
    const asked = world();
    asked.run.definitions['question'] = {
      kind: 'question',
      question: { template: '{{.who}}', label: 'query-input', parameters },
      access,
    };
    await expect(asked.call({ question: { hash: 'question' } })).rejects.toMatchObject({
      message:
        'failed to resolve query input: failed to resolve parameters: ' +
        'failed to resolve parameter who: key gone not found in secret default/keys',
    });
    await expect(
      world(agent({ prompt: { template: '{{.who}}', label: 'agent-prompt', parameters } })).call(),
    ).rejects.toMatchObject({
      message:
        'agent default/bot prompt resolution failed: failed to resolve parameters: ' +
        'failed to resolve parameter who: key gone not found in secret default/keys',
    });
    await expect(
      world(agent({ prompt: { template: '{{.who', label: 'agent-prompt', parameters: {} } })).call(),
    ).rejects.toMatchObject({
      type: 'TemplateInvalid',
      nonRetryable: true,
      message: expect.stringContaining('invalid template syntax in prompt: template: agent-prompt:1:'),
    });
  });

  test.each([
    ['Forbidden', 'AccessDenied', true],
    ['Unavailable', 'KubernetesUnavailable', false],
  ])('of a Secret that is %s are %s', async (code, type, nonRetryable) => {
    const { run, runs } = world();
    const ports = { ...portsWith(), secrets: { read: () => Promise.reject(secretError(code, 'no')) } };
    const { callModel } = createActivities(ports);
    await expect(
      inActivity({ run: run.ref, runs }, () =>
        callModel({ definition: 'agent', question: { hash: 'q', text: 'Hi' }, before: [], own: [], slot: 0 }),
      ),
    ).rejects.toMatchObject({ type, nonRetryable });
  });
});

describe('of what a Bedrock model can do without', () => {
  const model = {
    namespace: 'default',
    name: 'main',
    type: 'bedrock',
    model: { value: 'claude' },
    properties: {},
    region: { value: 'eu-west-1' },
    sessionToken: keyRef,
  } as const;

  /** What is asked of the provider, where Secrets are read so. */
  async function askedWhen(read: () => Promise<string>) {
    const { run, runs } = world(agent({ model }));
    const asked: ModelEndpoint[] = [];
    const models: ModelPort = {
      complete: async ({ endpoint }) => {
        asked.push(endpoint);
        return { message: { role: 'assistant', content: '' } };
      },
    };
    const { callModel } = createActivities({ ...portsWith(), models, secrets: { read } });
    await inActivity({ run: run.ref, runs }, () =>
      callModel({ definition: 'agent', question: { hash: 'q', text: 'Hi' }, slot: 0 }),
    );
    return asked[0];
  }

  test('what is there is sent', async () => {
    expect(await askedWhen(async () => 'token')).toMatchObject({
      region: 'eu-west-1',
      sessionToken: 'token',
    });
  });

  test.each(['NotFound', 'Forbidden'])('a Secret that is %s is left out', async (code) => {
    const endpoint = await askedWhen(() => Promise.reject(secretError(code, 'no')));
    expect(endpoint).toMatchObject({ region: 'eu-west-1' });
    expect(endpoint).not.toHaveProperty('sessionToken');
  });

  test('a Secret that may yet be read is waited for', async () => {
    await expect(askedWhen(() => Promise.reject(secretError('Unavailable', 'no')))).rejects.toMatchObject({
      type: 'KubernetesUnavailable',
      nonRetryable: false,
    });
  });
});

test('a cancel hangs up and ends the activity as cancelled', async () => {
  const called = Promise.withResolvers<AbortSignal>();
  const hanging = await startScriptedModel({
    script: ({ signal }) => {
      called.resolve(signal);
      return 'hang';
    },
  });
  const { call } = world(agent({ model: modelDefinition({ baseUrl: { value: hanging.baseUrl } }) }));
  const caller = new AbortController();
  const reply = call({}, { signal: caller.signal }).catch((error: unknown) => error);
  const hungUp = await called.promise;
  const reason = cancellation();
  caller.abort(reason);
  expect(await reply).toBe(reason);
  if (!hungUp.aborted) await once(hungUp, 'abort');
  expect(hanging.total()).toEqual({ started: 1, finished: 0, repeated: 0 });
  await hanging.close();
});
