import { createOutputs } from '../../../src/adapters/output/create-outputs.ts';

const outputs = createOutputs();

const weather = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    sky: { enum: ['clear', 'rain'] },
    day: { type: 'string', format: 'date' },
    days: { type: 'array', items: { type: 'object', properties: { c: { type: 'number' } } } },
  },
  required: ['city'],
  additionalProperties: false,
};

const start = 'The answer does not have the shape asked for: ';

describe('nothing is wrong with', () => {
  test.each([
    ['an answer of that shape', weather, '{"city":"Oslo","sky":"rain","day":"2026-07-28"}'],
    ['one in a fence', weather, '```json\n{"city":"Oslo"}\n```\n'],
    ['one in a fence without a language', weather, '```\n{"city":"Oslo"}```'],
    ['any JSON, by a schema of draft-07', { $schema: 'http://json-schema.org/draft-07/schema#' }, '1'],
    ['any JSON, by a schema of an unknown draft', { $schema: 'https://example.com/mine' }, '1'],
    ['anything, by a schema that is none', { type: 'nothing' }, 'not even JSON'],
    ['anything, by one whose pattern is none', { pattern: '(' }, '"x"'],
    ['anything, by one that refers to nowhere', { $ref: 'https://example.com/else' }, '1'],
    ['what no pattern decides in time', { pattern: '^(a+)+$' }, `"${'a'.repeat(60)}b"`],
  ])('%s', async (_, schema, answer) => {
    expect(await outputs.problem(schema, answer)).toBeUndefined();
  });
});

describe('a model is told', () => {
  test.each([
    ['a missing field', weather, '{}', `${start}must have required property 'city'.`],
    ['where', weather, '{"city":"x","days":[{"c":1},{"c":"2"}]}', `${start}/days/1/c: must be number.`],
    [
      'what is allowed',
      weather,
      '{"city":"x","sky":"fog"}',
      `${start}/sky: must be equal to one of the allowed values: "clear", "rain".`,
    ],
    ['what is too much', weather, '{"city":"x","wind":1}', `${start}must NOT have the property 'wind'.`],
    ['formats', weather, '{"city":"x","day":"today"}', `${start}/day: must match format "date".`],
    [
      'everything at once',
      weather,
      '{"city":1,"sky":1}',
      `${start}/city: must be string; /sky: must be equal to one of the allowed values: "clear", "rain".`,
    ],
    ['tuples of 2020-12', { prefixItems: [{ type: 'string' }] }, '[1]', `${start}/0: must be string.`],
    [
      'tuples of draft-07',
      { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] },
      '[1]',
      `${start}/0: must be string.`,
    ],
  ])('%s', async (_, schema, answer, problem) => {
    expect(await outputs.problem(schema, answer)).toBe(problem);
  });

  test('that it is no JSON', async () => {
    expect(await outputs.problem(weather, 'It rains.')).toMatch(/^The answer is not JSON: .+\.$/);
  });

  test('that it is too large', async () => {
    expect(await outputs.problem(weather, `"${'x'.repeat(1024 * 1024)}"`)).toBe(
      'The answer is larger than 1 MiB.',
    );
  });

  test('at most ten problems, in at most a thousand characters', async () => {
    const schema = { items: { type: 'number' } };
    const many = JSON.stringify(Array.from({ length: 30 }, String));
    expect(await outputs.problem(schema, many)).toMatch(/\/9: must be number; and 20 more\.$/);

    const long = { enum: Array.from({ length: 1_000 }, (_, i) => `value ${i}`) };
    expect(await outputs.problem(long, '1')).toHaveLength(1_000);
  });
});

test('two schemas may bear one $id', async () => {
  const one = { $id: 'https://example.com/a', type: 'string' };
  expect(await outputs.problem(one, '1')).toBe(`${start}must be string.`);
  expect(await outputs.problem({ ...one, type: 'number' }, '1')).toBeUndefined();
});
