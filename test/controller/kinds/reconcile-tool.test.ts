import type { ToolStatus } from '../../../src/api/tool.ts';
import { reconcileTool } from '../../../src/controller/kinds/reconcile-tool.ts';
import { key, play } from './played.ts';

const http = { url: 'http://a' };

test.each([
  [
    { type: 'http', http },
    { state: 'Ready', message: 'Tool configuration is valid' },
  ],
  [{ type: 'http' }, { state: 'Error', message: 'http spec is required for http type' }],
  [
    { type: 'http', http, inputSchema: { type: 'text' } },
    { state: 'Error', message: expect.stringContaining("invalid schema type 'text'") },
  ],
])('a Tool with %j', async (spec, status) => {
  const world = play<ToolStatus>(spec);
  await reconcileTool(key, world.ports);
  await reconcileTool(key, world.ports);
  expect(world.writes).toEqual([status]);
});

test('a Tool that was mended is ready', async () => {
  const world = play<ToolStatus>({ type: 'http' });
  await reconcileTool(key, world.ports);
  world.change({ spec: { type: 'http', http } });
  await reconcileTool(key, world.ports);
  expect(world.status.state).toBe('Ready');
});
