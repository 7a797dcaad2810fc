import fc from 'fast-check';
import type { Next } from '../../src/controller/ports.ts';
import { createWorkQueue } from '../../src/controller/work-queue.ts';
import type { Clock } from '../../src/controller/work-queue.ts';

/** Time that passes only when a test says so; what is due at one moment happens in the order it was planned. */
function playedClock(): Clock & { pass(ms: number): Promise<void>; readonly planned: number } {
  let nowMs = 0;
  const timers = new Set<{ readonly dueMs: number; readonly callback: () => void }>();
  return {
    now: () => nowMs,
    after(ms, callback) {
      const timer = { dueMs: nowMs + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    get planned() {
      return timers.size;
    },
    async pass(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        const [next] = [...timers]
          .filter(({ dueMs }) => dueMs <= untilMs)
          .toSorted((a, b) => a.dueMs - b.dueMs);
        if (!next) break;
        timers.delete(next);
        nowMs = next.dueMs;
        next.callback();
        await settled();
      }
      nowMs = untilMs;
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

interface Look {
  readonly key: string;
  readonly startedMs: number;
  readonly end: (next: Next | Error) => void;
}

/** A queue whose work waits for the test to end it. */
function playedQueue({ workers = 2, waits = { firstMs: 100, maxMs: 1_000 } } = {}) {
  const clock = playedClock();
  const open: Look[] = [];
  const looks: Look[] = [];
  const queue = createWorkQueue({
    workers,
    waits,
    clock,
    work(key) {
      const { promise, resolve, reject } = Promise.withResolvers<Next>();
      const look: Look = {
        key,
        startedMs: clock.now(),
        end(next) {
          open.splice(open.indexOf(look), 1);
          if (next instanceof Error) reject(next);
          else resolve(next);
        },
      };
      open.push(look);
      looks.push(look);
      return promise;
    },
  });
  return { queue, clock, open, looks };
}

test('takes keys in the order of their coming, no more than there are workers', async () => {
  const { queue, open, looks } = playedQueue({ workers: 2 });
  for (const key of ['a', 'b', 'c', 'b']) queue.add(key);
  expect(open.map(({ key }) => key)).toEqual(['a', 'b']);

  open[0]?.end('settled');
  await settled();
  expect(looks.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
});

test('looks at a key once more when it was added during the look, and once only', async () => {
  const { queue, open, looks } = playedQueue();
  queue.add('a');
  queue.add('a');
  queue.add('a');
  expect(open).toHaveLength(1);

  open[0]?.end('settled');
  await settled();
  open[0]?.end('settled');
  await settled();
  expect(looks).toHaveLength(2);
});

test('waits twice as long after each failure, up to a bound, and forgets them after a success', async () => {
  const { queue, clock, open, looks } = playedQueue({ waits: { firstMs: 100, maxMs: 500 } });
  const fail = async () => {
    const failedMs = clock.now();
    open[0]?.end(new Error('not yet'));
    await settled();
    await clock.pass(500);
    return (looks.at(-1)?.startedMs ?? 0) - failedMs;
  };
  queue.add('a');
  expect([await fail(), await fail(), await fail(), await fail()]).toEqual([100, 200, 400, 500]);

  open[0]?.end('settled');
  await settled();
  queue.add('a');
  expect(await fail()).toBe(100);
});

test('of several times for the next look keeps the earliest', async () => {
  const { queue, clock, looks } = playedQueue();
  queue.addAfter('a', 500);
  queue.addAfter('a', 200);
  queue.addAfter('a', 900);
  await clock.pass(199);
  expect(looks).toHaveLength(0);
  await clock.pass(1);
  expect(looks).toHaveLength(1);
  expect(clock.planned).toBe(0);
});

test('comes again when the work wants it to', async () => {
  const { queue, clock, open, looks } = playedQueue();
  queue.add('a');
  open[0]?.end({ requeueAfterMs: 300 });
  await settled();
  await clock.pass(300);
  expect(looks.map(({ startedMs }) => startedMs)).toEqual([0, 300]);
});

test('tells its depth and the age of who waits longest', async () => {
  const { queue, clock, open } = playedQueue({ workers: 1 });
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 10_000);
  await clock.pass(250);
  expect(queue.state()).toEqual({ waiting: 1, working: 1, delayed: 1, oldestMs: 250 });
  open[0]?.end('settled');
  await settled();
  expect(queue.state()).toEqual({ waiting: 0, working: 1, delayed: 1, oldestMs: 0 });
});

test('drained: what was begun ends, nothing else begins, no timer is left', async () => {
  const { queue, clock, open, looks } = playedQueue({ workers: 1 });
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 10);
  let drained = false;
  const draining = queue.drain().then(() => (drained = true));
  queue.add('d');
  await settled();
  expect(drained).toBe(false);

  open[0]?.end(new Error('too late to try again'));
  await draining;
  await clock.pass(100_000);
  expect(looks.map(({ key }) => key)).toEqual(['a']);
  expect(clock.planned).toBe(0);
});

const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ do: fc.constant('addAfter' as const), key: fc.integer({ min: 0, max: 4 }), ms: fc.nat(300) }),
  fc.record({
    do: fc.constant('end' as const),
    which: fc.nat(3),
    how: fc.constantFrom('settled', 'fail', 'requeue'),
  }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.nat(400) }),
);

test('whatever happens: one look per key at a time, and a look that begins after every wish', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const workers = 2;
      const { queue, clock, open, looks } = playedQueue({ workers });
      /** For each key, how many looks had begun when it was last wished for. */
      const wishes = new Map<string, number>();
      const begun = (key: string) => looks.filter((look) => look.key === key).length;

      for (const one of steps) {
        if (one.do === 'add') {
          const key = String(one.key);
          wishes.set(key, begun(key));
          queue.add(key);
        } else if (one.do === 'addAfter') {
          const key = String(one.key);
          wishes.set(key, begun(key));
          queue.addAfter(key, one.ms);
        } else if (one.do === 'end') {
          const ends = {
            settled: 'settled' as const,
            fail: new Error('failed'),
            requeue: { requeueAfterMs: 50 },
          };
          open[one.which % Math.max(1, open.length)]?.end(ends[one.how]);
        } else {
          await clock.pass(one.ms);
        }
        await settled();
        expect(open.length).toBeLessThanOrEqual(workers);
        expect(new Set(open.map(({ key }) => key)).size).toBe(open.length);
        // Nobody waits while somebody is free.
        expect(queue.state().waiting === 0 || open.length === workers).toBe(true);
      }

      // Let everything come to rest: every wish must have been answered by a look that began after it.
      for (let round = 0; round < 50 && (open.length > 0 || queue.state().delayed > 0); round++) {
        for (let look = open[0]; look; look = open[0]) look.end('settled');
        await clock.pass(2_000);
        await settled();
      }
      for (const [key, before] of wishes) expect(begun(key)).toBeGreaterThan(before);
      expect(queue.state()).toEqual({ waiting: 0, working: 0, delayed: 0, oldestMs: 0 });
    }),
    { numRuns: 200 },
  );
});
