import { Command } from 'commander';
import { addSettings, readSettings, settings, UsageError, type SettingName } from '../../src/cli/settings.ts';

const names = Object.keys(settings) as SettingName[];

/** What a command makes of these words and this environment. */
function readFrom(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const before = { ...process.env };
  for (const name of names) delete process.env[settings[name].env];
  Object.assign(process.env, env);
  try {
    const command = new Command('test').exitOverride();
    addSettings(command, names);
    command.parse(words, { from: 'user' });
    return readSettings(command, names);
  } finally {
    process.env = before;
  }
}

test('without flags and environment, everything has its default or is absent', () => {
  expect(readFrom([])).toMatchObject({
    kubeconfig: undefined,
    namespace: 'arkwright-system',
    leaderElection: true,
    taskQueue: 'arkwright',
    webhook: 'off',
    webhookPort: 9443,
    webhookFailurePolicy: 'fail',
    healthPort: 8081,
    logLevel: 'info',
  });
});

test('a flag wins over the environment, and the environment over the default', () => {
  const env = { ARKWRIGHT_HEALTH_PORT: '9000', ARKWRIGHT_TASK_QUEUE: 'blue' };
  expect(readFrom(['--health-port', '9001'], env)).toMatchObject({ healthPort: 9001, taskQueue: 'blue' });
});

test('an empty environment variable is one that is not set', () => {
  expect(readFrom([], { ARKWRIGHT_HEALTH_PORT: '', ARKWRIGHT_TEMPORAL_UI: '' })).toMatchObject({
    healthPort: 8081,
    temporalUi: undefined,
  });
});

test.each([
  ['--health-port', 'abc', 'give a port between 0 and 65535'],
  ['--health-port', '65536', 'give a port between 0 and 65535'],
  ['--health-port', '-1', 'give a port between 0 and 65535'],
  ['--health-port', '0x50', 'give a port between 0 and 65535'],
  ['--health-host', 'example.com', 'give an IP address of this machine'],
  ['--turns', '0', 'give a whole number between 1 and 10000'],
  ['--turns', '2.5', 'give a whole number between 1 and 10000'],
  ['--tool-rounds', '1e3', 'give a whole number between 1 and 1000'],
  ['--max-cached-workflows', '', 'give a whole number between 1 and 20000'],
  ['--leader-election', 'maybe', 'give true or false'],
  ['--log-level', 'loud', 'give one of trace, debug'],
  ['--temporal-ui', 'localhost:8233', 'give an address that begins with http://'],
  ['--temporal-address', 'http://localhost:7233', 'give host and port'],
  ['--temporal-address', 'localhost', 'give host and port'],
  ['--namespace', 'Not_A_Name', 'give a name of lower-case letters'],
  ['--port', '70000', 'give a port between 0 and 65535'],
  ['--host', 'broker.example.com', 'give an IP address of this machine'],
  ['--database-url', 'localhost:5432', 'give an address such as postgresql://'],
  ['--port-offset', '100', 'give a whole number between 0 and 99'],
])('refuses %s %s with one sentence that names flag and variable', (flag, value, advice) => {
  const refused = (() => {
    try {
      readFrom([flag, value || ' ']);
      return undefined;
    } catch (error) {
      return error;
    }
  })();
  expect(refused).toBeInstanceOf(UsageError);
  const { message } = refused as UsageError;
  expect(message).toContain(`${flag} (`);
  expect(message).toContain(advice);
  expect(message).toMatch(/^[^\n]+\.$/);
});

test('the help of every flag names its environment variable', () => {
  const command = new Command('test');
  addSettings(command, names);
  const help = command.createHelp();
  for (const option of command.options) {
    expect(help.optionDescription(option)).toMatch(
      /env: (ARKWRIGHT|TEMPORAL)_[A-Z_]+|env: (KUBECONFIG|DATABASE_URL)/,
    );
  }
  expect(command.options).toHaveLength(names.length);
});

test('every default would itself be accepted', () => {
  const withDefault = names.filter((name) => 'default' in settings[name]);
  expect(withDefault.length).toBeGreaterThan(5);
  expect(() => readFrom([])).not.toThrow();
});
