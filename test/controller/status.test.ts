import type { ClosedRun, SeenQuery } from '../../src/controller/ports.ts';
import { statusOf } from '../../src/controller/status.ts';

const now = new Date('2026-11-21T12:00:10.500Z');
const context = { now: () => now, temporalUi: { address: 'http://ui:8080/', namespace: 'my ns' } };
const startedAt = new Date('2026-11-21T12:00:00.250Z');
const usage = { promptTokens: 3, completionTokens: 1, totalTokens: 4, modelCalls: 1, toolCalls: 0 };
const bot = { type: 'agent', name: 'bot' } as const;
const crew = { type: 'team', name: 'crew' } as const;

const query = (changes: Partial<SeenQuery> = {}): SeenQuery => ({
  namespace: 'default',
  name: 'hello',
  uid: '6f1c',
  generation: 3,
  createdAt: startedAt,
  labels: {},
  annotations: {},
  held: true,
  spec: { input: 'hi' },
  status: {},
  ...changes,
});

const closed = (changes: Partial<ClosedRun> = {}): ClosedRun => ({
  state: 'closed',
  runId: 'r1',
  startedAt,
  closedAt: new Date('2026-11-21T12:01:30.250Z'),
  outcome: { phase: 'done', responses: [{ target: bot, phase: 'done', content: 'hello' }], usage },
  ...changes,
});

test('an open run is `running`, with its place in the Web UI', () => {
  expect(statusOf(query(), { state: 'open', runId: 'r1', startedAt, snapshotHash: 'abc' }, context)).toEqual({
    phase: 'running',
    startTime: '2026-11-21T12:00:00.250Z',
    conversationId: '6f1c',
    snapshotHash: 'abc',
    temporal: {
      workflowId: 'query:default:hello:6f1c',
      runId: 'r1',
      url: 'http://ui:8080/namespaces/my%20ns/workflows/query%3Adefault%3Ahello%3A6f1c/r1/history',
    },
    conditions: [
      {
        type: 'Completed',
        status: 'False',
        reason: 'QueryRunning',
        message: 'the run is open',
        observedGeneration: 3,
        lastTransitionTime: '2026-11-21T12:00:10Z',
      },
    ],
  });
});

test('a run whose answers are being judged is `evaluating`', () => {
  const progress = { isEvaluating: true } as const;
  expect(statusOf(query(), { state: 'open', runId: 'r1', startedAt, progress }, context)).toMatchObject({
    phase: 'evaluating',
    conditions: [{ status: 'False', reason: 'QueryRunning' }],
  });
});

test('what a run waits for is shown while it waits, and gone when it has ended', () => {
  const pending = { attempt: 3, lastFailure: 'ModelRateLimited: 429', nextRetryAt: now };
  const running = statusOf(
    query(),
    { state: 'open', runId: 'r1', startedAt, progress: { turn: 2, speaker: 'bot', tokens: 9, pending } },
    context,
  );

  expect(running.progress).toEqual({
    turn: 2,
    speaker: 'bot',
    tokens: 9,
    attempt: 3,
    lastFailure: 'ModelRateLimited: 429',
    nextRetryTime: '2026-11-21T12:00:10.500Z',
  });
  expect(statusOf(query({ status: running }), closed(), context)).not.toHaveProperty('progress');
});

test('an answered Query says what, when and for how much', () => {
  expect(statusOf(query(), closed(), context)).toMatchObject({
    phase: 'done',
    message: 'hello',
    responses: [{ target: bot, content: 'hello', phase: 'done' }],
    tokenUsage: usage,
    startTime: '2026-11-21T12:00:00.250Z',
    completionTime: '2026-11-21T12:01:30.250Z',
    duration: '1m30s',
    conditions: [{ status: 'True', reason: 'QuerySucceeded' }],
  });
});

test('answers that came before a failure stay, in the order of the spec', () => {
  const failure = { type: 'TeamTurnLimit', message: 'team round-robin MaxTurns reached crew' } as const;
  const status = statusOf(
    query(),
    closed({
      failure,
      outcome: {
        phase: 'error',
        usage,
        responses: [
          { target: crew, phase: 'error', content: 'so far', failure },
          { target: bot, phase: 'done', content: 'hello' },
        ],
      },
    }),
    context,
  );

  expect(status).toMatchObject({
    phase: 'error',
    message: failure.message,
    error: failure.message,
    responses: [
      { target: crew, content: 'so far', phase: 'error', error: failure.message },
      { target: bot, content: 'hello', phase: 'done' },
    ],
    conditions: [{ reason: 'QueryErrored', message: `TeamTurnLimit: ${failure.message}` }],
  });
});

test('a canceled run says so, and keeps what was answered', () => {
  const failure = { type: 'RunCanceled', message: 'canceled' } as const;
  const responses = [
    { target: bot, phase: 'done', content: 'hello' },
    { target: crew, phase: 'canceled', content: 'so far', failure },
  ] as const;
  const outcome = { phase: 'canceled', responses, usage } as const;
  expect(statusOf(query(), closed({ outcome }), context)).toMatchObject({
    phase: 'canceled',
    message: 'canceled',
    responses: [{ content: 'hello' }, { content: 'so far', phase: 'canceled' }],
    conditions: [{ type: 'Completed', status: 'True', reason: 'QueryCanceled' }],
  });
});

test('of several answers the first is the message, of several failures the first the error', () => {
  const said = (content: string) => ({ target: bot, phase: 'done', content }) as const;
  const failed = (message: string) =>
    ({ ...said(''), phase: 'error', failure: { type: 'InternalError', message } }) as const;
  const outcome = (phase: 'done' | 'error', ...responses: ClosedRun['outcome']['responses']) =>
    closed({ outcome: { phase, responses, usage } });
  expect(statusOf(query(), outcome('done', said('one'), said('two')), context)).toMatchObject({
    message: 'one',
  });
  expect(
    statusOf(query(), outcome('error', said('one'), failed('two'), failed('three')), context),
  ).toMatchObject({ message: 'two', error: 'two' });
});

test('the message is the beginning of a long answer, which is whole beside it', () => {
  const content = 'x'.repeat(5_000);
  const outcome = { phase: 'done', responses: [{ target: bot, phase: 'done', content }], usage } as const;
  expect(statusOf(query(), closed({ outcome }), context)).toMatchObject({
    message: `${'x'.repeat(1_999)}…`,
    responses: [{ content }],
  });
});

test('the first start counts, whatever the run says later', () => {
  const status = { startTime: '2026-11-21T12:00:00.000Z' };
  expect(statusOf(query({ status }), closed(), context)).toMatchObject({ ...status, duration: '1m30.25s' });
});

test('a clock that runs behind does not make a run end before it began', () => {
  const closedAt = new Date(startedAt.getTime() - 5_000);
  expect(statusOf(query(), closed({ closedAt }), context).duration).toBe('0s');
});

test('a condition keeps the time at which it became what it is', () => {
  const lastTransitionTime = '2026-11-21T11:00:00Z';
  const conditions = [
    { type: 'Completed', status: 'False', reason: 'QueryRunning', message: '', lastTransitionTime },
  ] as const;
  const at = (standing: Parameters<typeof statusOf>[1]): string | undefined =>
    statusOf(query({ status: { conditions: [...conditions] } }), standing, context).conditions?.[0]
      ?.lastTransitionTime;

  expect(at({ state: 'open', runId: 'r1', startedAt })).toBe(lastTransitionTime);
  expect(at(closed())).toBe('2026-11-21T12:00:10Z');
});

const conversationOf = (spec: object): string | undefined =>
  statusOf(query({ spec }), closed(), context).conversationId;

test('the conversation is named by sessionId, then conversationId, then the uid', () => {
  expect(conversationOf({ sessionId: 's', conversationId: 'c' })).toBe('s');
  expect(conversationOf({ conversationId: 'c' })).toBe('c');
  expect(conversationOf({})).toBe('6f1c');
});

test('a run that Temporal has forgotten is lost, and says what to do', () => {
  const status = { startTime: '2026-11-21T12:00:00.000Z', temporal: { workflowId: 'w', runId: 'r' } };
  expect(statusOf(query({ status }), { state: 'absent' }, context)).toMatchObject({
    ...status,
    phase: 'error',
    error: expect.stringContaining('create the Query again'),
    conditions: [{ message: expect.stringMatching(/^RunLost: /) }],
  });
});

test('no status is larger than 256 KiB, however much was said', () => {
  const content = '"\n\u0001é😀'.repeat(2_000);
  const responses = Array.from({ length: 1_024 }, () => ({
    target: { type: 'agent', name: 'a'.repeat(63) } as const,
    phase: 'error' as const,
    content,
    failure: { type: 'InternalError', message: 'm'.repeat(2_000) } as const,
  }));
  const status = statusOf(query(), closed({ outcome: { phase: 'error', responses, usage } }), context);

  expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThanOrEqual(256 * 1024);
  expect(status.responses).toHaveLength(1_024);
});
