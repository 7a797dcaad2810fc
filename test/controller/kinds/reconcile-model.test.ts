import { jest } from '@jest/globals';
import type { ModelStatus } from '../../../src/api/model.ts';
import { reconcileModel } from '../../../src/controller/kinds/reconcile-model.ts';
import type { ModelPorts } from '../../../src/controller/kinds/ports.ts';
import { key, play } from './played.ts';

type Complete = ModelPorts<ModelStatus>['complete'];

const baseUrl = { value: 'http://llm/v1' };
const apiKey = { valueFrom: { secretKeyRef: { name: 'keys', key: 'llm' } } };
const spec = (openai: object = {}) => ({
  type: 'openai',
  model: { value: 'gpt' },
  config: { openai: { baseUrl, apiKey, ...openai } },
});
const answer = { message: { role: 'assistant', content: 'Hi' } } as Awaited<ReturnType<Complete>>;

/** A Model whose key is in a Secret, and a provider that answers as it is told. */
function playModel(written: unknown = spec(), status: Partial<ModelStatus> = {}) {
  const world = play<ModelStatus>(written, status);
  world.writeSecret('keys', { llm: 'canary' });
  const asked: Parameters<Complete>[] = [];
  let answers: () => ReturnType<Complete> = async () => answer;
  const complete: Complete = (...request) => {
    asked.push(request);
    return answers();
  };
  return {
    world,
    asked,
    look: () => reconcileModel(key, { ...world.ports, complete }),
    answers(how: () => ReturnType<Complete>): void {
      answers = how;
    },
    refuses(why: string): void {
      answers = async () => {
        throw new Error(why);
      };
    },
  };
}

test('a Model is asked Hello once, in clear, and is ready', async () => {
  const { world, asked, look } = playModel(spec({ properties: { temperature: { value: '0.3' } } }));
  expect(await look()).toEqual({ requeueAfterMs: 60_000 });

  expect(world.writes.map(({ phase }) => phase)).toEqual(['running', 'ready']);
  expect(world.status).toMatchObject({ phase: 'ready', resolvedAddress: 'http://llm/v1' });
  expect(asked).toHaveLength(1);
  expect(asked[0]?.[0]).toEqual({
    endpoint: {
      type: 'openai',
      ...key,
      model: 'gpt',
      baseUrl: 'http://llm/v1',
      apiKey: 'canary',
      properties: {},
    },
    messages: [{ role: 'user', content: 'Hello' }],
    tools: [],
  });
  expect(asked[0]?.[1].timeoutMs).toBe(30_000);
});

test('it is not asked again while nothing changes, not even by a new process', async () => {
  const { world, asked, look } = playModel();
  await look();
  for (let hour = 0; hour < 10; hour++) {
    world.pass(3_600_000);
    await look();
  }
  expect(asked).toHaveLength(1);
  expect(world.writes).toHaveLength(2);

  const successor = playModel(spec(), world.status);
  await successor.look();
  expect(successor.asked).toHaveLength(0);
});

describe('it is asked again', () => {
  test.each([
    ['another model', spec(), { ...spec(), model: { value: 'other' } }],
    ['another address', spec(), spec({ baseUrl: { value: 'http://other' } })],
    ['another key', spec(), spec({ apiKey: { value: 'other' } })],
  ])('with %s', async (_, before, after) => {
    const { world, asked, look } = playModel(before);
    await look();
    world.change({ spec: after });
    await look();
    expect(asked).toHaveLength(2);
    expect(world.writes.map(({ phase }) => phase)).toEqual(['running', 'ready', 'running', 'ready']);
  });

  test('when its Secret has changed', async () => {
    const { world, asked, look, refuses, answers } = playModel();
    refuses('wrong key');
    await look();
    expect(world.status.phase).toBe('error');

    world.writeSecret('keys', { llm: 'right' });
    answers(async () => answer);
    await look();
    expect(asked.map(([{ endpoint }]) => endpoint)).toMatchObject([
      { apiKey: 'canary' },
      { apiKey: 'right' },
    ]);
    expect(world.status.phase).toBe('ready');
    expect(world.status).not.toHaveProperty('message');
  });

  test('when its ConfigMap has changed, and not for a property', async () => {
    const configMapKeyRef = { name: 'settings', key: 'url' };
    const properties = { seed: { valueFrom: { configMapKeyRef: { name: 'settings', key: 'seed' } } } };
    const { world, asked, look } = playModel(
      spec({ baseUrl: { valueFrom: { configMapKeyRef } }, properties }),
    );
    world.held.configMaps['settings'] = { url: 'http://a', seed: '1' };
    await look();
    world.held.configMaps['settings'] = { url: 'http://a', seed: '2' };
    await look();
    expect(asked).toHaveLength(1);
    world.held.configMaps['settings'] = { url: 'http://b', seed: '2' };
    await look();
    expect(asked.map(([{ endpoint }]) => endpoint)).toMatchObject([
      { baseUrl: 'http://a' },
      { baseUrl: 'http://b' },
    ]);
    expect(world.status.resolvedAddress).toBe('http://b');
  });
});

test('a Model that fails is in error with what its provider says, and is asked ever later', async () => {
  const { world, asked, look, refuses } = playModel();
  refuses('401 Incorrect API key provided: canary');
  await look();
  expect(world.status).toMatchObject({
    phase: 'error',
    message: '401 Incorrect API key provided: [redacted]',
  });

  const waits: number[] = [];
  for (let probe = 1; probe < 10; probe++) {
    let waitedMs = 0;
    while (asked.length === probe) {
      const next = (await look()) as { requeueAfterMs: number };
      if (asked.length > probe) break;
      world.pass(next.requeueAfterMs);
      waitedMs += next.requeueAfterMs;
    }
    waits.push(waitedMs / 1_000);
  }
  expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600]);
  expect(new Set(world.writes.slice(1).map(({ phase }) => phase))).toEqual(new Set(['error']));
  expect(new Set(asked.map(([, { idempotencyKey }]) => idempotencyKey)).size).toBe(asked.length);
});

test('it is ready without another call when what it names was gone for a while', async () => {
  const { world, asked, look } = playModel();
  await look();
  const { keys } = world.held.secrets;
  delete world.held.secrets['keys'];
  await look();
  expect(world.status).toMatchObject({
    phase: 'error',
    message: 'failed to get secret default/keys: secrets "keys" not found',
  });
  world.held.secrets['keys'] = keys ?? {};
  await look();
  expect(world.status.phase).toBe('ready');
  expect(asked).toHaveLength(1);
});

test.each([
  [{ ...spec(), config: {} }, 'model default/it: openai configuration is required for openai model type'],
  [spec({ properties: { seed: { value: '' } } }), /failed to resolve OpenAI property seed/],
  [
    spec({ apiKey: { valueFrom: { secretKeyRef: { name: 'keys', key: 'x' } } } }),
    'key x not found in secret default/keys',
  ],
])('a Model that cannot be asked says why', async (written, message) => {
  const { world, asked, look } = playModel(written);
  await look();
  expect(world.status.phase).toBe('error');
  expect(world.status.message).toMatch(message);
  expect(asked).toHaveLength(0);
});

test('a Model on Bedrock is asked with its properties', async () => {
  const bedrock = {
    region: { value: 'eu-west-1' },
    secretAccessKey: apiKey,
    maxTokens: 100,
    properties: { top_p: { value: '0.5' } },
  };
  const { world, asked, look, refuses } = playModel({
    type: 'bedrock',
    model: { value: 'claude' },
    config: { bedrock },
  });
  refuses('denied for canary');
  await look();
  expect(asked[0]?.[0].endpoint).toEqual({
    type: 'bedrock',
    ...key,
    model: 'claude',
    region: 'eu-west-1',
    secretAccessKey: 'canary',
    maxTokens: 100,
    properties: { top_p: '0.5' },
  });
  expect(world.status.message).toBe('denied for [redacted]');

  world.change({
    spec: { type: 'bedrock', model: { value: 'claude' }, config: { bedrock: { ...bedrock, maxTokens: 9 } } },
  });
  await look();
  expect(asked).toHaveLength(2);
});

test('a Model that does not answer within 30 s is in error', async () => {
  const { world, look, answers } = playModel();
  const waits = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
  answers(async () => {
    throw new Error('aborted');
  });
  await look();
  expect(waits.mock.calls).toEqual([[30_000]]);
  expect(world.status).toMatchObject({ phase: 'error', message: 'the model did not answer within 30 s' });
  waits.mockRestore();
});

test('no choice is no answer', async () => {
  const { world, look, answers } = playModel();
  answers(async () => undefined);
  await look();
  expect(world.status).toMatchObject({ phase: 'error', message: 'model returned no completion choices' });
});

test('an address from a Secret is not shown', async () => {
  const { world, look } = playModel(spec({ baseUrl: apiKey }));
  await look();
  expect(world.status.phase).toBe('ready');
  expect(JSON.stringify(world.writes)).not.toContain('canary');
});

test('a process that stops has learned nothing of the Model', async () => {
  const { world, look, answers } = playModel();
  answers(async () => {
    world.stop();
    throw new Error('aborted');
  });
  await expect(look()).rejects.toThrow('stopped');
  expect(world.status.phase).toBe('running');
});
