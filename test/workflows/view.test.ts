import fc from 'fast-check';
import { createLog } from '../../src/workflows/log.ts';
import { clip } from '../../src/workflows/clip.ts';
import { inOrder } from '../../src/workflows/in-order.ts';
import { join, seenFromOutside } from '../../src/workflows/view.ts';
import type { Message, View } from '../../src/api/transcript.ts';

const slotsOf = (view: View) =>
  view.flatMap(({ run, from, to }) =>
    Array.from({ length: to - from }, (_, i) => `${run?.runId ?? 'here'}:${from + i}`),
  );

const segment = fc
  .record({
    from: fc.nat(9),
    length: fc.integer({ min: 1, max: 4 }),
    run: fc.constantFrom(undefined, 'r1', 'r2'),
  })
  .map(({ from, length, run }) => ({
    from,
    to: from + length,
    ...(run && { run: { workflowId: 'w', runId: run } }),
  }));

test('joining views changes neither the slots nor their order', () => {
  fc.assert(
    fc.property(fc.array(fc.array(segment, { maxLength: 4 }), { maxLength: 4 }), (views) => {
      expect(slotsOf(join(...views))).toEqual(views.flatMap(slotsOf));
    }),
  );
});

test('a conversation without gaps is one segment, however long', () => {
  const view = Array.from({ length: 500 }, (_, slot) => [{ from: slot, to: slot + 1 }]).reduce<View>(
    (all, one) => join(all, one),
    [],
  );
  expect(view).toEqual([{ from: 0, to: 500 }]);
});

test('another run finds every slot under the name of the run that holds it', () => {
  const view: View = [
    { from: 0, to: 2 },
    { run: { workflowId: 'w', runId: 'r1' }, from: 4, to: 5 },
  ];
  expect(slotsOf(seenFromOutside(view, { workflowId: 'w', runId: 'r9' }))).toEqual(['r9:0', 'r9:1', 'r1:4']);
});

test('pages of a log hold all of it in order, none larger than the bound unless one message is', () => {
  const log = createLog();
  const messages = Array.from({ length: 9 }, (_, n): Message => ({
    role: 'user',
    content: String(n).repeat(n === 4 ? 900_000 : 150_000),
  }));
  for (const message of messages) log.keep(log.allot(), message);

  const read: Message[] = [];
  for (let from = 0; from < messages.length;) {
    const { slots } = log.page(from, messages.length);
    expect(slots.length === 1 || JSON.stringify(slots).length < 600_000).toBe(true);
    read.push(...slots.flat());
    from += slots.length;
  }
  expect(read).toEqual(messages);
});

test('clipped text never grows over its bound, is a prefix, and no character is torn', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.integer({ min: 3, max: 80 }),
      (text, bytesMax) => {
        const clipped = clip(text, bytesMax);
        expect(Buffer.byteLength(clipped)).toBeLessThanOrEqual(bytesMax);
        expect(clipped).not.toContain('\ufffd');
        if (clipped !== text) expect(text.startsWith(clipped.slice(0, -1))).toBe(true);
      },
    ),
  );
});

test('work in order returns results in the items’ order and never runs more at once than allowed', async () => {
  let running = 0;
  let most = 0;
  const results = await inOrder([3, 1, 2, 0, 1], 2, async (ticks, index) => {
    most = Math.max(most, ++running);
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    running--;
    return index;
  });
  expect(results).toEqual([0, 1, 2, 3, 4]);
  expect(most).toBe(2);
});
