import { createPolls } from '../../../src/controller/kinds/polls.ts';

const server = { namespace: 'default', name: 's', uid: 'u' };
let nowMs: number;
const polls = () => createPolls(() => new Date(nowMs));
beforeEach(() => (nowMs = 0));

test('a server is asked first at once, then at its pace', () => {
  const all = polls();
  expect(all.dueInMs(server, 'h')).toBe(0);
  expect(all.succeeded(server, 'h', 30_000)).toBe(30_000);
  nowMs = 29_999;
  expect(all.dueInMs(server, 'h')).toBe(1);
  nowMs = 30_000;
  expect(all.dueInMs(server, 'h')).toBe(0);
});

test('another question, or another server of the name, does not wait', () => {
  const all = polls();
  all.succeeded(server, 'h', 30_000);
  expect(all.dueInMs(server, 'other')).toBe(0);
  expect(all.dueInMs({ ...server, uid: 'other' }, 'h')).toBe(0);
  all.forget(server);
  expect(all.dueInMs(server, 'h')).toBe(0);
});

test.each([
  ['every minute', 60_000, [5, 10, 20, 40, 60, 60]],
  ['every two seconds', 2_000, [2, 2, 2]],
  ['every millisecond', 1, [1, 1]],
])('a server asked %s that fails is asked after these seconds', (_, everyMs, seconds) => {
  const all = polls();
  expect(seconds.map(() => all.failed(server, 'h', everyMs) / 1_000)).toEqual(seconds);
  all.succeeded(server, 'h', everyMs);
  expect(all.failed(server, 'h', everyMs) / 1_000).toBe(seconds[0]);
});

test('a server asked once that fails is asked again after ten minutes at most', () => {
  const all = polls();
  for (let failure = 0; failure < 40; failure++) all.failed(server, 'h', 0);
  nowMs = 600_000;
  expect(all.dueInMs(server, 'h')).toBe(0);
});

test('what the question is made of is looked at every minute', () => {
  const all = polls();
  expect(all.succeeded(server, 'h', 3_600_000)).toBe(60_000);
  expect(all.dueInMs(server, 'h')).toBe(60_000);
  expect(all.succeeded(server, 'h', 0)).toBe(60_000);
});
