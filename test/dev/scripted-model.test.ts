import { once } from 'node:events';
import type { ChatBody } from '../../src/dev/chat-wire.ts';
import {
  startScriptedModel,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedModelOptions,
} from '../../src/dev/scripted-model.ts';

let model: ScriptedModel;
const start = async (options?: ScriptedModelOptions) => (model = await startScriptedModel(options));
afterEach(() => model.close());

const ask = async (messages: unknown[], more: object = {}, key = 'k1', path = '/v1/chat/completions') => {
  const response = await fetch(model.url + path, {
    method: 'POST',
    headers: { 'Idempotency-Key': key },
    body: JSON.stringify({ model: 'm', messages, ...more }),
  });
  return { status: response.status, body: (await response.json()) as Completion };
};
interface Completion {
  choices: {
    message: {
      content: string;
      tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    };
  }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}
const messageOf = ({ body }: { body: Completion }) => body.choices[0]?.message;

const weather = {
  type: 'function',
  function: {
    name: 'get-weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const terminate = { type: 'function', function: { name: 'terminate', parameters: { type: 'object' } } };
const system = { role: 'system', content: 'You are a travel guide. Look up the weather first.' };
const user = { role: 'user', content: 'Is a trip to Oslo wise?' };

test('the same request gets the same answer, in the role of the prompt, on either path', async () => {
  await start();
  const first = await ask([system, user]);
  const again = await ask([system, user], {}, 'k2', '/openai/deployments/gpt/chat/completions?api-version=1');
  expect(messageOf(first)?.content).toContain('travel guide');
  expect(messageOf(again)).toEqual(messageOf(first));
});

test('a tool the prompt speaks of is used once, with arguments that fit, and its result is told', async () => {
  await start();
  const wish = messageOf(await ask([system, user], { tools: [weather] }));
  const call = wish?.tool_calls?.[0];
  expect(call?.function).toEqual({ name: 'get-weather', arguments: '{"city":"Oslo"}' });

  const result = { role: 'tool', tool_call_id: call?.id, content: '{"t":4}' };
  const answer = messageOf(await ask([system, user, wish, result], { tools: [weather] }));
  expect(answer?.tool_calls).toBeUndefined();
  expect(answer?.content).toContain('{"t":4}');
});

test('a tool nobody speaks of is left alone', async () => {
  await start();
  const answer = messageOf(
    await ask([{ role: 'system', content: 'You are a poet.' }, user], { tools: [weather] }),
  );
  expect(answer?.tool_calls).toBeUndefined();
});

const said = (count: number) =>
  Array.from({ length: count }, () => ({ role: 'assistant', name: 'other', content: 'a point' }));

test('a conversation with enough contributions is ended by who can', async () => {
  await start();
  const early = messageOf(await ask([system, ...said(2), user], { tools: [terminate] }));
  const late = messageOf(await ask([system, ...said(3), user], { tools: [terminate] }));
  expect(early?.tool_calls).toBeUndefined();
  expect(late?.tool_calls?.[0]?.function.name).toBe('terminate');
  expect(JSON.parse(late?.tool_calls?.[0]?.function.arguments ?? '')).toEqual({
    response: expect.stringContaining('travel guide'),
  });
});

test.each([
  ['Roles: a: x, y, b: z. Participants: ann, bob, cy\n', 'ann'],
  ['Participants: ann, bob, cy\n# ann:\nhello\n', 'bob'],
  ['Participants: ann, bob, cy\n# cy:\nhello\n\n# user:\nyes\n', 'ann'],
  ['Choose from [ann, bob].\n# ann:\nhello\n', 'bob'],
])('a selector goes round the participants: %j', async (prompt, next) => {
  await start();
  const question = { role: 'user', content: 'Select the next participant to respond.' };
  expect(messageOf(await ask([{ role: 'system', content: prompt }, question]))?.content).toBe(next);
});

test('an answer with a schema fits it', async () => {
  await start();
  const schema = {
    type: 'object',
    properties: { verdict: { enum: ['yes', 'no'] }, days: { type: 'integer', maximum: 9 } },
  };
  const answer = await ask([user], { response_format: { type: 'json_schema', json_schema: { schema } } });
  expect(JSON.parse(messageOf(answer)?.content ?? '')).toEqual({ verdict: 'yes', days: 1 });
});

test('a streamed answer comes word by word and is the same as a whole one', async () => {
  await start();
  const whole = await ask([system, user]);
  const response = await fetch(`${model.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({
      model: 'm',
      messages: [system, user],
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
  const events = (await response.text())
    .trim()
    .split('\n\n')
    .map((event) => event.replace(/^data: /, ''));
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(events.at(-1)).toBe('[DONE]');

  const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as Chunk);
  const words = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ''));
  expect(words.length).toBeGreaterThan(10);
  expect(words.join('')).toBe(messageOf(whole)?.content);
  expect(chunks.at(-1)?.usage?.completion_tokens).toBe(whole.body.usage.completion_tokens);
});
interface Chunk {
  choices: { delta: { content?: string } }[];
  usage?: Completion['usage'];
}

test('of two choices from one list, each argument gets the one named for it', async () => {
  await start();
  const unit = { enum: ['miles', 'kilometres'] };
  const parameters = { properties: { value: { type: 'number' }, from: unit, to: unit } };
  const tools = [{ type: 'function', function: { name: 'convert-units', parameters } }];
  const question = { role: 'user', content: 'Convert 42 kilometres into miles.' };
  const wish = messageOf(await ask([question], { tools }))?.tool_calls?.[0];
  expect(JSON.parse(wish?.function.arguments ?? '')).toEqual({ value: 42, from: 'kilometres', to: 'miles' });
});

test('a tool that failed is no finding', async () => {
  await start();
  const wish = messageOf(await ask([system, user], { tools: [weather] }));
  const result = { role: 'tool', tool_call_id: wish?.tool_calls?.[0]?.id, content: 'error: HTTP error 404' };
  const answer = messageOf(await ask([system, user, wish, result], { tools: [weather] }));
  expect(answer?.content).toMatch(/^I could not look it up\. As the travel guide/);
});

test('tokens add up', async () => {
  await start();
  const { usage } = (await ask([system, user])).body;
  expect(usage.prompt_tokens).toBeGreaterThan(0);
  expect(usage.completion_tokens).toBeGreaterThan(0);
  expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
});

test('a script is told which request it answers, and may refuse it', async () => {
  const seen: [ChatBody, number][] = [];
  await start({
    script: ({ body }, n) => {
      seen.push([body, n]);
      return n === 1
        ? { status: 429, headers: { 'retry-after': '7' }, body: { error: {} } }
        : { content: 'ok' };
    },
  });
  expect((await ask([user])).status).toBe(429);
  expect(messageOf(await ask([user]))?.content).toBe('ok');
  expect(seen.map(([body, n]) => [body.model, n])).toEqual([
    ['m', 1],
    ['m', 2],
  ]);
});

test('only an answer that went out whole is finished, and a call after it is a repetition', async () => {
  await start({
    script: (_, n) => ([{ status: 500 }, 'cut', { content: 'ok' }, { content: 'again' }] as const)[n - 1]!,
  });
  await ask([user]).catch(() => undefined);
  await expect(ask([user])).rejects.toThrow('terminated');
  expect(model.calls().get('k1')).toEqual({ started: 2, finished: 0, repeated: 0 });

  await ask([user]);
  expect(model.calls().get('k1')).toEqual({ started: 3, finished: 1, repeated: 0 });
  await ask([user]);
  expect(model.calls().get('k1')).toEqual({ started: 4, finished: 2, repeated: 1 });
});

test('an answer nobody waits for any more is not finished', async () => {
  const called = Promise.withResolvers<AbortSignal>();
  const answer = Promise.withResolvers<ScriptedAnswer>();
  await start({
    script: ({ signal }) => {
      called.resolve(signal);
      return answer.promise;
    },
  });
  const caller = new AbortController();
  const call = fetch(`${model.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ messages: [user] }),
    signal: caller.signal,
  });
  const hungUp = await called.promise;
  caller.abort();
  await expect(call).rejects.toThrow('aborted');
  if (!hungUp.aborted) await once(hungUp, 'abort');

  answer.resolve({ content: 'late' });
  await nextTurn();
  expect(model.total()).toEqual({ started: 1, finished: 0, repeated: 0 });
});

const nextTurn = () => new Promise(setImmediate);

test('it lists itself, and closes with a call hanging', async () => {
  await start({ script: () => 'hang' });
  const list = (await (await fetch(`${model.baseUrl}/models`)).json()) as { data: { id: string }[] };
  expect(list.data[0]?.id).toBe('scripted');

  const hanging = ask([user]);
  while (model.total().started < 2) await nextTurn();
  await Promise.all([model.close(), expect(hanging).rejects.toThrow('fetch failed')]);
});
