import { createLogger } from '../../../src/adapters/telemetry/logger.ts';

const canary = 'canary-5f1d';

function logged(pretty: boolean, write: (logger: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  const destination = { write: (line: string) => void (text += line) };
  write(createLogger({ level: 'info', name: 'worker', pretty, destination }));
  return text;
}

describe.each([
  ['JSON', false],
  ['readable', true],
])('a %s log', (_, pretty) => {
  test.each([
    ['at the top', { apiKey: canary }],
    ['in a request', { request: { headers: { Authorization: canary } } }],
    ['in a header', { request: { headers: [{ name: 'x', value: canary }] } }],
    ['in a model spec', { model: { spec: { config: { openai: { apiKey: { value: canary } } } } } }],
    ['as a token', { user: { token: canary } }],
    ['as a lower-case header', { a: { b: { c: { authorization: canary } } } }],
  ])('removes a secret %s', (_place, fields) => {
    expect(logged(pretty, (logger) => logger.info(fields, 'called'))).not.toContain(canary);
  });

  test('keeps what is not secret, on one line', () => {
    const text = logged(pretty, (logger) =>
      logger.warn({ query: 'default/hello', tokens: 12 }, 'two\nlines'),
    );
    expect(text).toContain('default/hello');
    expect(text).toContain('12');
    expect(text.trimEnd().split('\n')).toHaveLength(1);
  });

  test('leaves out what is below its level', () => {
    expect(logged(pretty, (logger) => logger.debug('detail'))).toBe('');
  });
});

test('a JSON line names its process, level and time', () => {
  const line = JSON.parse(logged(false, (logger) => logger.info('ready'))) as Record<string, unknown>;
  expect(line).toMatchObject({ process: 'worker', level: 'info', msg: 'ready' });
  expect(Date.parse(String(line['time']))).toBeGreaterThan(0);
});

test('a readable line keeps an error to its type and message', () => {
  const text = logged(true, (logger) => logger.error({ err: new TypeError('no such host') }, 'cannot call'));
  expect(text).toMatch(/ERROR worker: cannot call err="TypeError: no such host"\n$/);
});
