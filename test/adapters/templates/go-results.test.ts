import { readFileSync } from 'node:fs';
import { renderGoTemplate } from '../../../src/adapters/templates/render-go-template.ts';

type Case = readonly [template: string, output: string, error?: string];
interface Results {
  readonly data: Readonly<Record<string, unknown>>;
  readonly cases: readonly Case[];
}

/** Written by Go itself: see go-results/main.go. */
const { data, cases } = JSON.parse(
  readFileSync(new URL('./go-results/results.json', import.meta.url), 'utf8'),
) as Results;

test('every template prints what it prints in Go', () => {
  const working = cases.filter(([, , error]) => error === undefined);
  expect(working.length).toBeGreaterThan(250);
  expect(working.map(([template]) => rendered(template))).toEqual(working);
});

test('every mistake is reported in the words of Go, at its line and column', () => {
  const broken = cases.filter(([, , error]) => error !== undefined);
  expect(broken.length).toBeGreaterThan(150);
  expect(broken.map(([template]) => rendered(template))).toEqual(broken);
});

function rendered(template: string): Case {
  try {
    return [template, renderGoTemplate(template, data, { name: 't' })];
  } catch (error) {
    return [template, '', (error as Error).message];
  }
}
