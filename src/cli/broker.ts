import { resolve } from 'node:path';
import { Command } from 'commander';
import { addSettings, processSettings, readSettings, UsageError } from './settings.ts';

const names = ['host', 'port', 'file', 'databaseUrl', ...processSettings] as const;

/** `arkwright broker`: a memory for conversations, and answers while they are being written. */
export function brokerCommand(program: string): Command {
  const command = new Command('broker')
    .summary('keep conversations, and pass on answers while they are written')
    .description(
      'Serves what a Memory resource points at (/messages, /conversations) and streams of answers (/stream). ' +
        'Conversations are safe once a request is answered, in a file or in PostgreSQL; streams are kept in memory, for minutes. ' +
        'It asks nobody who they are: let only your workers and readers reach it.',
    )
    .addHelpText(
      'after',
      `
Examples:
  ${program} broker --host 127.0.0.1 --file memories.db
  DATABASE_URL=postgresql://arkwright:secret@db:5432/arkwright ${program} broker --port 8080
  curl -N 'http://localhost:8080/stream/my-query?from-beginning=true&wait-for-query=30s'
`,
    );
  addSettings(command, names, { healthPort: '8083' });

  return command.action(async (_options, cmd: Command) => {
    const settings = readSettings(cmd, names);
    const [{ runBroker }, { createBrokerMetrics }, { runProcess }] = await Promise.all([
      import('../broker/main.ts'),
      import('../adapters/telemetry/metrics.ts'),
      import('./run-process.ts'),
    ]);
    await runProcess('broker', settings, async ({ logger, registry, health, signal }) => {
      const { host, port, file, databaseUrl } = settings;
      const storage = databaseUrl === undefined ? { file: resolve(file) } : { databaseUrl };
      const metrics = createBrokerMetrics(registry);
      await runBroker({ host, port, storage, logger, health, metrics }, signal).catch(inWordsOfSettings);
    });

    /** A port that somebody else has is for the user to change. */
    function inWordsOfSettings(error: NodeJS.ErrnoException): never {
      if (error.syscall !== 'listen') throw error;
      throw new UsageError(
        `Memories and streams cannot be served on ${settings.host}:${settings.port} (${error.message}); ` +
          'give another --port, or 0 for any free one.',
        { cause: error },
      );
    }
  });
}
