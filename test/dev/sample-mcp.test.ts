import { createMcp } from '../../src/adapters/mcp/create-mcp.ts';
import type { JournaledServer } from '../../src/dev/journaled-server.ts';
import { startSampleMcp } from '../../src/dev/sample-mcp.ts';

const mcp = createMcp();
let samples: JournaledServer;
beforeAll(async () => {
  samples = await startSampleMcp({ port: 0 });
});
afterAll(async () => {
  await mcp.close();
  await samples.close();
});

const server = () => ({
  namespace: 'default',
  name: 'samples',
  transport: 'http' as const,
  timeoutMs: 60_000,
  address: `${samples.url}/mcp`,
  headers: [],
});
const { signal } = new AbortController();

test('the samples’ MCP server lists its tools', async () => {
  const tools = await mcp.list(server(), signal);
  expect(tools.map(({ name }) => name)).toEqual(['convert', 'days_between']);
});

test.each([
  ['convert', { value: 20, from: 'celsius', to: 'fahrenheit' }, { content: '68 fahrenheit' }],
  ['convert', { value: 42.195, from: 'kilometres', to: 'miles' }, { content: '26.22 miles' }],
  [
    'convert',
    { value: 1, from: 'celsius', to: 'miles' },
    { content: 'these arguments make no sense to convert', isError: true },
  ],
  ['days_between', { from: '2026-01-01', to: '2026-12-31' }, { content: '364 days' }],
])('%s %j', async (tool, args, result) => {
  expect(await mcp.call(server(), tool, args, { signal, idempotencyKey: 'k', timeoutMs: 60_000 })).toEqual(
    result,
  );
});

test('a tool it does not have is refused', async () => {
  await expect(
    mcp.call(server(), 'fly', {}, { signal, idempotencyKey: 'k', timeoutMs: 60_000 }),
  ).rejects.toMatchObject({
    kind: 'refused',
  });
});
