import { cutAllToFit, cutToFit } from '../../src/activities/cut-to-fit.ts';
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

describe('several messages', () => {
  const saying = (content: string) => ({ role: 'assistant', content }) as const;

  test('that fit together are left as they are', () => {
    const messages = [saying('a'), saying('b'.repeat(mebibyte / 2))];
    expect(cutAllToFit(messages)).toBe(messages);
  });

  test('that do not are cut until they do: the longest first, the short ones not at all', () => {
    const messages = [
      saying('short'),
      saying('x'.repeat(2 * mebibyte)),
      saying('y'.repeat(mebibyte)),
      saying('z'),
    ];
    const cut = cutAllToFit(messages);
    expect(bytesOf({ messages: cut })).toBeLessThanOrEqual(mebibyte);
    expect(bytesOf({ messages: cut })).toBeGreaterThan(mebibyte - 8_192);
    expect([cut[0], cut[3]]).toEqual([messages[0], messages[3]]);
    expect(cut[1]?.content).toMatch(/^x+\n… \[cut: the answer was 2\.0 MiB, \d+ KiB is kept\]$/);
  });

  test('are too many where not even their beginnings fit', () => {
    const messages = Array.from({ length: 100_000 }, () => saying('one of many'));
    expect(() => cutAllToFit(messages)).toThrow(/100000 messages take \d+ bytes/);
  });
});
