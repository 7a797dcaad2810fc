import { eventMessage, eventType } from '../../src/api/event-text.ts';

const tokens = { promptTokens: 61, completionTokens: 9, totalTokens: 70 };

test('a finished model call reads as the contract shows it (section 14)', () => {
  const facts = { agent: 'default/bot', model: 'm1' };
  expect(eventMessage({ name: 'm1', facts, tokens, durationMs: 812.4 })).toBe(
    '{"agent":"default/bot","duration":"812.4ms","model":"m1","name":"m1","token_usage":{"completion_tokens":9,"prompt_tokens":61,"total_tokens":70}}',
  );
});

test('an error says what happened, within bounds', () => {
  const { error } = JSON.parse(eventMessage({ name: 'q', facts: {}, error: 'x'.repeat(9_999) })) as {
    error: string;
  };
  expect(error).toMatch(/^x{2000}$/);
});

test.each([
  ['QueryResolveError', 'Warning'],
  ['TargetExecutionError', 'Warning'],
  ['QueryResolveComplete', 'Normal'],
  ['TeamTurnMaxTurns', 'Normal'],
])('%s is an Event of type %s', (reason, type) => {
  expect(eventType(reason)).toBe(type);
});
