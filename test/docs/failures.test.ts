import { readFile } from 'node:fs/promises';
import { failures } from '../../src/api/failures.ts';

test('docs/failures.md explains every failure, and no other', async () => {
  const page = await readFile(new URL('../../docs/failures.md', import.meta.url), 'utf8');
  const headings = [...page.matchAll(/^### (\S+)$/gm)].map(([, name]) => name);
  expect(headings.toSorted()).toEqual(Object.keys(failures).toSorted());
});

test('docs/failures.md says "Retried" of those that are', async () => {
  const page = await readFile(new URL('../../docs/failures.md', import.meta.url), 'utf8');
  for (const [name, { retryable }] of Object.entries(failures)) {
    const text = page.split(`### ${name}\n`)[1]?.split('\n#')[0] ?? '';
    // A lost call is a retried one that ran out of retries.
    if (name !== 'CallTimeout') expect([name, /\bRetried\b/.test(text)]).toEqual([name, retryable]);
  }
});
