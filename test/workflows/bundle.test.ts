import { readFile } from 'node:fs/promises';
import { workflowBundle } from '../../src/worker/workflow-bundle.ts';

/** Without source maps, which are a comment at the end. */
const codeBytesMax = 2 * 1024 * 1024;

/** Packages that would make workflow code slow to load, or impossible to replay. */
const unwanted = [
  'zod',
  'openai',
  '@kubernetes/client-node',
  'undici',
  '@temporalio/client',
  '@temporalio/worker',
];

test('the workflow bundle is small and holds nothing but decisions', async () => {
  const { codePath } = await workflowBundle();
  const [code = ''] = (await readFile(codePath, 'utf8')).split('\n//# sourceMappingURL=');

  // Webpack names every module it takes in; ours are the proof that this is so.
  expect(code).toContain('src/workflows/query-workflow.ts');
  for (const name of unwanted) expect([name, code.includes(`node_modules/${name}/`)]).toEqual([name, false]);
  expect(code.length).toBeLessThan(codeBytesMax);
});
