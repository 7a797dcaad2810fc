import { createFilters } from '../../../src/adapters/filters/create-filters.ts';

const filters = createFilters({ timeoutMs: 60_000 });
afterAll(() => filters.close());

const never = new AbortController().signal;
const jq = (content: string, ...expressions: string[]) => filters.apply(expressions, content, never);
const problemOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error as Error & { type?: string },
  );

const weather = '{"city":"Oslo","days":[{"c":1.0},{"c":-3}],"html":"<b>&</b>\u2028"}';

describe('a jq filter gives what ARK gives', () => {
  test.each([
    ['no expression: unchanged', ' {"b" : 1}', '', ' {"b" : 1}'],
    ['no JSON: unchanged', '12 degrees', '.city', '12 degrees'],
    ['two JSON texts are no JSON', '1 2', '.', '1 2'],
    ['a string keeps its quotes', weather, '.city', '"Oslo"'],
    ['no output: nothing', weather, 'empty', ''],
    ['several outputs: a list', weather, '.days[].c', '[1,-3]'],
    ['one output that is a list stays one', weather, '.days', '[{"c":1},{"c":-3}]'],
    ['null is an output', weather, '.nothing', 'null'],
    ['keys are sorted', '{"b":1,"a":{"d":1,"c":2}}', '.', '{"a":{"c":2,"d":1},"b":1}'],
    ['keys are sorted by their bytes', '{"\u{1f600}":1,"\uffff":2}', '.', '{"\uffff":2,"\u{1f600}":1}'],
    ['HTML and separators are escaped', weather, '.html', '"\\u003cb\\u003e\\u0026\\u003c/b\\u003e\\u2028"'],
    [
      'numbers are doubles',
      '[1.50,1e21,12345678901234567890,0.0000001]',
      '.',
      '[1.5,1e+21,12345678901234567000,1e-7]',
    ],
    ['an expression may begin with a minus', '1', '-1', '-1'],
    ['a newline inside a string is no new output', '"a\\nb"', '.', '"a\\nb"'],
  ])('%s', async (_, content, expression, result) => {
    expect(await jq(content, expression)).toBe(result);
  });

  test('several expressions, each over the result of the one before', async () => {
    expect(await jq(weather, '.days', '', 'map(.c) | add')).toBe('-2');
  });

  test('nothing but the result: neither the environment nor other input', async () => {
    process.env['CANARY'] = 'canary';
    expect(await jq('1', '$ENV.CANARY, env.CANARY, [inputs]')).toBe('[null,null,[]]');
    delete process.env['CANARY'];
  });

  test('a megabyte, and in order', async () => {
    const many = JSON.stringify(Array.from({ length: 50_000 }, (_, id) => ({ id, text: 'x'.repeat(10) })));
    expect(JSON.parse(await jq(many, 'map(.id)'))).toEqual(Array.from({ length: 50_000 }, (_, id) => id));
  });
});

describe('a filter that fails', () => {
  test.each([
    ['.foo[', /^filter error: failed to parse jq expression '\.foo\[': syntax error, unexpected end of file/],
    ['.city.x', /^filter error: jq query execution error: Cannot index string with string "x"$/],
    ['.city, .city.x', /^filter error: jq query execution error: Cannot index string/],
    ['nope', /^filter error: jq query execution error: nope\/0 is not defined/],
    ['error("bad")', /^filter error: jq query execution error: bad$/],
    ['$city', /^filter error: jq query execution error: \$city is not defined/],
    ['import "a" as a; .', /^filter error: jq query execution error: module not found: a$/],
    ['repeat(.)', /^filter error: jq query execution error: the result is larger than 4 MiB$/],
    ['def f: f + 1; f', /^filter error: jq query execution error: it needs more memory or a deeper stack/],
  ])('%s says why', async (expression, message) => {
    expect(await problemOf(jq(weather, expression))).toMatchObject({
      type: 'ToolFilterFailed',
      message: expect.stringMatching(message) as string,
    });
    expect(await jq(weather, '.city')).toBe('"Oslo"');
  });
});

const forever = 'last(range(1e18))';

describe('a filter that runs away', () => {
  test('is ended, and others go on', async () => {
    const impatient = createFilters({ timeoutMs: 1_000 });
    try {
      const [first, second] = await Promise.all(
        [1, 2].map(() => problemOf(impatient.apply([forever], '1', never))),
      );
      expect([first?.message, second?.message]).toEqual(
        Array(2).fill('filter error: jq query execution error: no result within 1 s'),
      );
    } finally {
      await impatient.close();
    }
  });

  test('ends with its call, and one that waits is forgotten', async () => {
    const calls = Array.from({ length: 3 }, () => new AbortController());
    const ends = calls.map(({ signal }) => problemOf(filters.apply([forever], '1', signal)));
    for (const call of calls.toReversed()) call.abort(new Error('no longer wanted'));
    expect((await Promise.all(ends)).map((end) => end?.message)).toEqual(Array(3).fill('no longer wanted'));
    expect(await jq(weather, '.city')).toBe('"Oslo"');
  });

  test('ends when the filters are closed', async () => {
    const closing = createFilters();
    const ends = [1, 2, 3].map(() => problemOf(closing.apply([forever], '1', never)));
    await closing.close();
    expect(await Promise.all(ends)).toEqual(Array(3).fill(expect.any(Error)));
  });
});
