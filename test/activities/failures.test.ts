import { DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { asStep } from '../../src/activities/context.ts';
import { CallFailure, during, toFailure, toolFailure } from '../../src/activities/failures.ts';
import type { RemoteError } from '../../src/activities/ports.ts';
import { failures, type FailureType } from '../../src/api/failures.ts';
import { cancellation, FakeRuns, fakeRun, inActivity } from '../fakes/activity.ts';

const historyOf = (error: Error) =>
  JSON.stringify(new DefaultFailureConverter().errorToFailure(error, defaultPayloadConverter));

test.each(Object.entries(failures))('%s says itself whether repeating could help', (type, { retryable }) => {
  expect(toFailure(new CallFailure(type as FailureType, 'why'), [])).toMatchObject({
    type,
    message: 'why',
    nonRetryable: !retryable,
  });
});

test.each([
  [7_000, 7_000],
  [0, 1_000],
])('a wish to be left alone for %i ms is granted for %i', (retryAfterMs, nextRetryDelay) => {
  expect(toFailure(new CallFailure('ModelRateLimited', 'busy', { retryAfterMs }), [])).toMatchObject({
    nextRetryDelay,
  });
});

test('a failure is small and holds what a person needs', () => {
  const error = new CallFailure('ModelBadRequest', 'x'.repeat(5_000), {
    status: 400,
    code: 'bad',
    requestId: 'req-1',
  });
  const failure = toFailure(error, []);
  expect(failure.message).toHaveLength(300);
  expect(failure.details).toEqual([{ status: 400, code: 'bad', requestId: 'req-1' }]);
  expect(failure.cause).toBeUndefined();
  expect(historyOf(failure).length).toBeLessThan(1_024);
});

test.each([
  ['as it is', 'c@n/ary "key"', 'wrong key c@n/ary "key" given'],
  ['in a URL', 'c@n/ary "key"', `GET http://host/?k=${encodeURIComponent('c@n/ary "key"')}`],
  ['in JSON', 'c@n/ary "key"', JSON.stringify({ message: 'c@n/ary "key"' })],
  ['without its newline', 'c@n/ary "key"\n', 'wrong key c@n/ary "key" given'],
  ['at the cut', 'c@n/ary "key"', `${'x'.repeat(290)}c@n/ary "key"`],
])('no Secret leaves in a failure: %s', (_, secret, message) => {
  const known = toFailure(new CallFailure('ModelUnauthorized', message, { code: message }), [secret]);
  const bug = toFailure(new TypeError(message), [secret]);
  for (const failure of [known, bug]) expect(historyOf(failure)).not.toMatch(/ary|c@n|c%40n/);
});

test('a Secret that is part of another leaves nothing of it behind', () => {
  expect(toFailure(new CallFailure('ModelUnauthorized', 'key abcdef'), ['abc', 'abcdef', '']).message).toBe(
    'key [redacted]',
  );
});

test('a bug is final, has our name for it and says where it is', () => {
  const failure = toFailure(new TypeError('x is undefined'), []);
  expect(failure).toMatchObject({
    type: 'InternalError',
    nonRetryable: true,
    message: 'unforeseen error in an activity: TypeError: x is undefined',
  });
  expect(failure.stack).toContain('failures.test');
});

test('an error keeps its name when it is told what was being tried', async () => {
  const busy = new CallFailure('ModelRateLimited', 'busy', { retryAfterMs: 5, status: 429 });
  await expect(during('selector model call failed', () => Promise.reject(busy))).rejects.toMatchObject({
    type: 'ModelRateLimited',
    message: 'selector model call failed: busy',
    retryAfterMs: 5,
    status: 429,
  });
  const bug = new TypeError('bug');
  await expect(during('anything', () => Promise.reject(bug))).rejects.toBe(bug);
});

const toolError = (more: Partial<RemoteError>): RemoteError =>
  Object.assign(new Error('the reason'), { kind: 'network' as const, sent: true, ...more });

test.each<[string, Partial<RemoteError>, FailureType, FailureType]>([
  ['429', { kind: 'status', status: 429 }, 'ToolRateLimited', 'ToolRateLimited'],
  ['408', { kind: 'status', status: 408 }, 'ToolUnavailable', 'ToolUncertain'],
  ['503', { kind: 'status', status: 503 }, 'ToolUnavailable', 'ToolUncertain'],
  ['400', { kind: 'status', status: 400 }, 'ToolRejected', 'ToolRejected'],
  ['404', { kind: 'status', status: 404 }, 'ToolRejected', 'ToolRejected'],
  ['a cut connection', { kind: 'network' }, 'ToolUnreachable', 'ToolUncertain'],
  ['nobody listening', { kind: 'network', sent: false }, 'ToolUnreachable', 'ToolUnreachable'],
  ['no answer in time', { kind: 'timeout' }, 'ToolTimeout', 'ToolUncertain'],
  ['a wrong template', { kind: 'template', sent: false }, 'TemplateInvalid', 'TemplateInvalid'],
  ['an endless answer', { kind: 'too-large' }, 'PayloadTooLarge', 'PayloadTooLarge'],
])('a tool with %s: %j is %s where it may be repeated, else %s', (_, error, repeatable, once) => {
  expect(toolFailure(toolError(error), true).type).toBe(repeatable);
  expect(toolFailure(toolError(error), false).type).toBe(once);
});

test('a cancelled effect ends with the cancellation, whatever its port threw', async () => {
  const run = fakeRun('r');
  const caller = new AbortController();
  const reason = cancellation();
  const step = inActivity({ run: run.ref, runs: new FakeRuns(run), signal: caller.signal }, () =>
    asStep(async () => {
      caller.abort(reason);
      throw new CallFailure('ModelUnreachable', 'aborted');
    }),
  );
  await expect(step).rejects.toBe(reason);
});
