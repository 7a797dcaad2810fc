import { matchesSelector } from '../../../src/controller/snapshot/matches-selector.ts';

const labels = { app: 'weather', tier: 'free' };

test.each([
  [{}, true],
  [{ matchLabels: {} }, true],
  [{ matchLabels: { app: 'weather' } }, true],
  [{ matchLabels: { app: 'weather', tier: 'paid' } }, false],
  [{ matchLabels: { other: 'weather' } }, false],
  [is('app', 'In', 'news', 'weather'), true],
  [is('app', 'In', 'news'), false],
  [is('other', 'In', 'weather'), false],
  [is('app', 'NotIn', 'news'), true],
  [is('app', 'NotIn', 'news', 'weather'), false],
  [is('other', 'NotIn', 'weather'), true],
  [is('app', 'Exists'), true],
  [is('other', 'Exists'), false],
  [is('app', 'DoesNotExist'), false],
  [is('other', 'DoesNotExist'), true],
  [{ ...is('tier', 'Exists'), matchLabels: { app: 'news' } }, false],
  [{ ...is('other', 'Exists'), matchLabels: { app: 'weather' } }, false],
])('%j matches what is labelled so: %s', (selector, matches) => {
  expect(matchesSelector(selector, labels)).toBe(matches);
});

test('an operator that Kubernetes does not know is refused', () => {
  expect(() => matchesSelector(is('app', 'Like', 'w*'), labels)).toThrow(
    '"Like" is not a valid label selector operator',
  );
});

function is(key: string, operator: string, ...values: readonly string[]) {
  return { matchExpressions: [{ key, operator, values: [...values] }] };
}
