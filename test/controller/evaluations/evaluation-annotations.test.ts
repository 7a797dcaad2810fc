import { annotationsOf } from '../../../src/controller/evaluations/evaluation-annotations.ts';
import { scoreOf } from '../../../src/controller/evaluations/score.ts';

test.each([
  ['0', '0'],
  ['1', '1'],
  ['1.0', '1.0'],
  ['0.123456', '0.123456'],
  [' 0.5 ', '0.5'],
  ['.5', '0.5'],
  ['85', '0.85'],
  ['85.5', '0.855'],
  ['100', '1'],
  ['2', '0.02'],
  ['150', '1'],
  ['-3', '0'],
  ['85%', '0.85'],
  ['1%', '0.01'],
  ['70/100', '0.7'],
  ['1e-2', '0.01'],
  ['A+', undefined],
  ['', undefined],
  ['NaN', undefined],
  ['Infinity', undefined],
])('a score of %j is %j', (said, score) => {
  expect(scoreOf(said)).toBe(score);
  if (score !== undefined) expect(score).toMatch(/^(0(\.[0-9]+)?|1(\.0+)?)$/);
});

const judged = { score: '0.9', passed: true, metadata: {} };

test.each([
  ['reasoning', 'reasoning'],
  ['criteria scores', 'criteria-scores'],
  ['a/b:c', 'a-b-c'],
  ['_x_', 'x'],
  ['é', 'unnamed'],
  ['', 'unnamed'],
  ['k'.repeat(99), 'k'.repeat(63)],
])('the key %j becomes %j', (key, name) => {
  expect(annotationsOf({ ...judged, metadata: { [key]: 'v' } })).toEqual({
    [`evaluation.metadata/${name}`]: 'v',
  });
});

test('keys that become alike stay apart', () => {
  expect(annotationsOf({ ...judged, metadata: { 'a b': '1', 'a/b': '2', 'a-b': '3' } })).toEqual({
    'evaluation.metadata/a-b': '1',
    'evaluation.metadata/a-b-2': '2',
    'evaluation.metadata/a-b-3': '3',
  });
});

test('a score that is none is kept', () => {
  expect(annotationsOf({ ...judged, score: 'A+' })).toEqual({ 'evaluation.metadata/raw-score': 'A+' });
  expect(annotationsOf(judged)).toEqual({});
});

test('together they stay within what an object can hold', () => {
  const metadata = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`k${i}`, 'é'.repeat(4_096)]));
  const annotations = annotationsOf({ ...judged, metadata });
  expect(Object.keys(annotations)).toHaveLength(64);
  expect(Buffer.byteLength(JSON.stringify(annotations))).toBeLessThan(72 * 1024);
});
