import { cutToFit } from '../../src/activities/cut-to-fit.ts';
import { bytesOf } from '../fakes/activity.ts';

const mebibyte = 1024 * 1024;

test('a message that fits is left as it is', () => {
  const message = { role: 'assistant', content: 'x'.repeat(mebibyte - 8_192) } as const;
  expect(cutToFit(message)).toBe(message);
});

test.each(['a', 'é', '漢', '😀', '\u0001', '"', '😀a'])(
  'a longer answer of %j fits afterwards, says that it was cut, and begins as it began',
  (unit) => {
    const content = unit.repeat(Math.ceil((1.25 * mebibyte) / Buffer.byteLength(unit)));
    const cut = cutToFit({ role: 'assistant', content } as const);
    const [head = '', marker] = cut.content.split('\n… [cut: ');
    expect(bytesOf({ message: cut })).toBeLessThanOrEqual(mebibyte);
    expect(bytesOf({ message: cut })).toBeGreaterThan(mebibyte - 8_192);
    expect(content.startsWith(head)).toBe(true);
    expect(head.isWellFormed()).toBe(true);
    expect(marker).toMatch(/^the answer was \d+\.\d MiB, 1 MiB is kept\]$/);
  },
);

test('tool calls cannot be cut', () => {
  const toolCalls = [{ id: 'c1', name: 'save', arguments: 'x'.repeat(2 * mebibyte) }];
  expect(() => cutToFit({ role: 'assistant', content: '', toolCalls })).toThrow(/ask for less/);
});
