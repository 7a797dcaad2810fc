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

const anyText = { type: 'string', description: expect.any(String) as string };

test.each([
  ['noop', /does nothing.* success/i, { type: 'object', properties: { message: anyText } }],
  [
    'terminate',
    /final response .*ends the conversation/i,
    { type: 'object', properties: { response: anyText }, required: ['response'] },
  ],
] as const)('%s is told as what it is', (name, description, parameters) => {
  expect(builtInTools[name]).toMatchObject({
    name,
    description: expect.stringMatching(description) as string,
  });
  expect(builtInTools[name].parameters).toEqual(parameters);
});
