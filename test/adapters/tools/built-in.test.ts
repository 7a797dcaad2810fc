import { builtInTools, runBuiltIn } from '../../../src/adapters/tools/built-in.ts';

test.each([
  [{}, 'map[]'],
  [{ message: 'hi' }, 'map[message:hi]'],
  [{ z: 1, a: [true, null, 'x'], m: { k: 2.5 } }, 'map[a:[true <nil> x] m:map[k:2.5] z:1]'],
  [{ n: 1234567 }, 'map[n:1.234567e+06]'],
])('noop prints %j as Go would', (args, content) => {
  expect(runBuiltIn('noop', args)).toEqual({ content });
});

test('terminate ends the conversation with its response', () => {
  expect(runBuiltIn('terminate', { response: 'bye' })).toEqual({ content: 'bye', ends: true });
  expect(runBuiltIn('terminate', { response: '' })).toEqual({ content: '', ends: true });
});

test.each([{}, { response: 1 }, { response: null }])('terminate with %j has no response', (args) => {
  expect(() => runBuiltIn('terminate', args)).toThrow('no response');
});

test('only terminate insists on an argument', () => {
  expect(builtInTools.noop.parameters).not.toHaveProperty('required');
  expect(builtInTools.terminate.parameters).toMatchObject({
    required: ['response'],
    properties: { response: { type: 'string' } },
  });
});
