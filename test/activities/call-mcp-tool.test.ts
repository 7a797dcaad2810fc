import { setTimeout as delay } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { createActivities } from '../../src/activities/create-activities.ts';
import type { McpToolDefinition } from '../../src/api/snapshot.ts';
import { startJournaledServer } from '../../src/dev/journaled-server.ts';
import { FakeRuns, fakeRun, inActivity, type Attempt } from '../fakes/activity.ts';
import { startMcpServer, type RunningMcpServer } from '../fakes/mcp-server.ts';
import { access, portsWith } from '../fakes/ports.ts';

const saying = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

let run: () => CallToolResult;
let server: RunningMcpServer;
beforeAll(async () => {
  server = await startMcpServer({ tools: [{ name: 'get_weather', run: () => run() }] });
});
beforeEach(() => {
  run = () => saying('{"city":"Oslo","t":4}');
});
afterAll(() => server.stop());

const secret = (key: string) => ({ secret: { namespace: 'default', name: 'keys', key } });

const weather = (more: Partial<McpToolDefinition> = {}): McpToolDefinition => ({
  type: 'mcp',
  name: 'weather',
  description: 'Weather by city',
  parameters: { type: 'object' },
  server: {
    namespace: 'default',
    name: 'tools',
    transport: 'http',
    address: { value: server.url },
    headers: [{ name: 'X-Key', value: secret('tool') }],
    timeoutMs: 60_000,
  },
  toolName: 'get_weather',
  repeatable: true,
  ...more,
});
const at = (address: string): McpToolDefinition['server'] => ({
  ...weather().server,
  address: { value: address },
});

function world(tool: McpToolDefinition, wish = '{"city":"Oslo"}') {
  const toolCalls = [{ id: 'c1', name: tool.name, arguments: wish }];
  const asking = fakeRun('run-1', [{ role: 'assistant', content: '', toolCalls }]);
  const value = { value: 'unused' };
  asking.definitions['agent'] = {
    kind: 'agent',
    namespace: 'default',
    name: 'bot',
    prompt: { text: '' },
    model: {
      namespace: 'default',
      name: 'main',
      type: 'openai',
      properties: {},
      model: value,
      baseUrl: value,
      apiKey: value,
    },
    tools: [tool],
    access,
  };
  asking.definitions['tool'] = { kind: 'tool', tool, access };
  const { callTool } = createActivities(portsWith({ 'default/keys/tool': 'canary-key' }));
  const attempted = {
    run: asking.ref,
    runs: new FakeRuns(asking),
    activityId: 't001.bot.tool.1.weather',
  };
  return {
    byAgent: (attempt: Partial<Attempt> = {}) =>
      inActivity({ ...attempted, ...attempt }, () =>
        callTool({
          definition: 'agent',
          call: { tool: tool.name, slot: 0, index: 0 },
          question: { hash: 'q' },
          slot: 1,
        }),
      ),
    byQuery: (text: string) =>
      inActivity(attempted, () => callTool({ definition: 'tool', question: { hash: 'q', text }, slot: 0 })),
  };
}
const contentOf = async (tool: McpToolDefinition) => (await world(tool).byAgent()).message.content;

test('the server is told its own name of the tool, the arguments, the headers and which call it is', async () => {
  expect(await world(weather()).byAgent()).toEqual({
    message: { role: 'tool', toolCallId: 'c1', content: '{"city":"Oslo","t":4}' },
  });
  expect(server.calls.at(-1)).toMatchObject({
    name: 'get_weather',
    args: { city: 'Oslo' },
    meta: { 'arkwright/idempotency-key': 'query:run-1:t001.bot.tool.1.weather' },
  });
  expect(server.requests.at(-1)?.headers['x-key']).toBe('canary-key');
});

test.each([
  ['', {}],
  ['not JSON', {}],
  ['[1]', {}],
  ['{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
])('the wish %j is the arguments %j', async (wish, args) => {
  await world(weather(), wish).byAgent();
  expect(server.calls.at(-1)?.args).toEqual(args);
});

test('a Query’s own input is the arguments', async () => {
  const { byQuery } = world(weather());
  expect(await byQuery('{"city":"Rome"}')).toMatchObject({ message: { role: 'assistant' } });
  await byQuery('plain text');
  expect(server.calls.slice(-2).map(({ args }) => args)).toEqual([{ city: 'Rome' }, { input: 'plain text' }]);
});

test('a tool that says of itself that it failed has answered', async () => {
  run = () => ({ ...saying('no such city'), isError: true });
  expect(await contentOf(weather())).toBe('no such city');
});

describe('filters', () => {
  test.each([
    [['.t'], '4'],
    [['.city'], '"Oslo"'],
    [['.t + 1', '. * 2'], '10'],
    [['.city, .t'], '["Oslo",4]'],
    [['empty'], ''],
  ])('%j make it %s', async (filters, content) => {
    expect(await contentOf(weather({ filters }))).toBe(content);
  });

  test('leave alone what is no JSON, also what an error says', async () => {
    run = () => ({ ...saying('no such city'), isError: true });
    expect(await contentOf(weather({ filters: ['.t'] }))).toBe('no such city');
  });

  test.each([
    ['.t |', "tool weather: filter error: failed to parse jq expression '.t |'"],
    ['.city + 1', 'tool weather: filter error: jq query execution error: '],
  ])('that cannot be applied (%s) fail the call, which is not repeated for that', async (filter, words) => {
    await expect(world(weather({ filters: [filter] })).byAgent()).rejects.toMatchObject({
      type: 'ToolFilterFailed',
      nonRetryable: true,
      message: expect.stringContaining(words),
    });
  });
});

describe('failures', () => {
  const throwing = (message: string) => () => {
    throw new Error(message);
  };

  test('a refusal in the protocol’s own words is told in them, and is final, but no Secret is', async () => {
    run = throwing('no weather for canary-key');
    const failure = {
      type: 'ToolRejected',
      nonRetryable: true,
      message: 'tool weather: no weather for [redacted]',
    };
    await expect(world(weather()).byAgent()).rejects.toMatchObject(failure);
    await expect(world(weather({ repeatable: false })).byAgent()).rejects.toMatchObject(failure);
    await expect(world(weather()).byQuery('{}')).rejects.toMatchObject({
      message: 'tool execution failed: no weather for [redacted]',
    });
  });

  test.each([
    [429, 'ToolRateLimited', false],
    [503, 'ToolUnavailable', false],
    [403, 'ToolRejected', true],
  ])('a server that answers %i is %s', async (status, type, nonRetryable) => {
    const refusing = await startMcpServer({ tools: [], refuse: () => status });
    await expect(world(weather({ server: at(refusing.url) })).byAgent()).rejects.toMatchObject({
      type,
      nonRetryable,
      details: [{ status }],
    });
    await refusing.stop();
  });

  test('a header whose Secret is missing is a failure of its own, and nothing is called', async () => {
    const { calls } = server;
    const before = calls.length;
    const headers = [{ name: 'X-Key', value: secret('gone') }];
    await expect(
      world(weather({ server: { ...weather().server, headers } })).byAgent(),
    ).rejects.toMatchObject({
      type: 'SecretUnavailable',
      message: 'tool weather: key gone not found in secret default/keys',
    });
    expect(calls).toHaveLength(before);
  });
});

describe('a tool that must not be repeated', () => {
  const uncertain = { type: 'ToolUncertain', nonRetryable: true };
  const cutting = () => {
    server.cut();
    return saying('never heard');
  };

  test('is not, where the connection broke after it was asked', async () => {
    run = cutting;
    const before = server.calls.length;
    await expect(world(weather({ repeatable: false })).byAgent()).rejects.toMatchObject(uncertain);
    expect(server.calls).toHaveLength(before + 1);
  });

  test('is not, after an attempt that ended without a word', async () => {
    const before = server.calls.length;
    await expect(world(weather({ repeatable: false })).byAgent({ attempt: 2 })).rejects.toMatchObject(
      uncertain,
    );
    expect(server.calls).toHaveLength(before);
  });

  test('is asked again where nobody listened; one that may be repeated is, in any case', async () => {
    const gone = await startMcpServer({ tools: [] });
    await gone.stop();
    let heartbeatDetails: unknown;
    const { byAgent } = world(weather({ repeatable: false, server: at(gone.url) }));
    for (const attempt of [1, 2]) {
      await expect(
        byAgent({ attempt, heartbeatDetails, heartbeat: (details) => (heartbeatDetails = details) }),
      ).rejects.toMatchObject({ type: 'ToolUnreachable', nonRetryable: false });
    }
    run = cutting;
    await expect(world(weather()).byAgent()).rejects.toMatchObject({
      type: 'ToolUnreachable',
      nonRetryable: false,
    });
    run = () => saying('mended');
    expect(await world(weather()).byAgent({ attempt: 2 })).toMatchObject({ message: { content: 'mended' } });
  });
});

describe('the server’s own timeout', () => {
  const within = (address: string, timeoutMs: number) => weather({ server: { ...at(address), timeoutMs } });

  test('is for connecting: one that never answers is given up, and nothing was done', async () => {
    const deaf = await startJournaledServer(() => 'hang');
    const tool = { ...within(deaf.url, 300), repeatable: false };
    await expect(world(tool).byAgent()).rejects.toMatchObject({ type: 'ToolTimeout', nonRetryable: false });
    await deaf.close();
  });

  test('is not for a tool, which may think for longer', async () => {
    const thinking = await startMcpServer({
      tools: [{ name: 'get_weather', run: () => delay(6_000, saying('at last')) }],
    });
    expect(await contentOf(within(thinking.url, 5_000))).toBe('at last');
    await thinking.stop();
  });
});
