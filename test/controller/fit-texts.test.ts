import fc from 'fast-check';
import { fitTexts } from '../../src/controller/fit-texts.ts';

const bytesOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(JSON.stringify(text)), 0);

/** Characters whose JSON form is 1 to 6 bytes long, one of them two UTF-16 units. */
const unit = fc.constantFrom('a', '"', '\n', '\u0001', 'é', '中', '😀');
const anyTexts = fc.array(fc.string({ unit, maxLength: 400 }), { maxLength: 4 });

test('texts that fit stay as they are', () => {
  fc.assert(fc.property(anyTexts, (texts) => expect(fitTexts(texts, bytesOf(texts))).toEqual(texts)));
});

test('texts that do not fit are cut to the budget, visibly and between characters', () => {
  fc.assert(
    fc.property(anyTexts, fc.integer({ min: 1_000, max: 2_000 }), (texts, budget) => {
      const fitted = fitTexts(texts, budget);

      expect(bytesOf(fitted)).toBeLessThanOrEqual(budget);
      for (const [i, text] of fitted.entries()) {
        if (text === texts[i]) continue;
        expect(text).toMatch(/… \[cut; \d+ characters/);
        const kept = text.slice(0, text.lastIndexOf('… [cut'));
        expect(texts[i]?.startsWith(kept)).toBe(true);
        expect(kept.isWellFormed()).toBe(true);
      }
    }),
  );
});

test('short texts stay whole beside a long one', () => {
  const [short, long] = fitTexts(['hello', 'x'.repeat(10_000)], 1_000);

  expect(short).toBe('hello');
  expect(long?.length).toBeGreaterThan(900);
});
