/** A real Temporal dev server for one test file: in memory, with the settings of the embedded stack. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import { claimPorts } from '../src/dev/ports.ts';

export interface TemporalForTests {
  readonly address: string;
  readonly client: Client;
  stop(): Promise<void>;
}

/** `extra` are further dynamic settings, such as a lower bound at which runs are asked to continue as new. */
export async function startTemporal(extra: readonly string[] = []): Promise<TemporalForTests> {
  const { ports, release } = await claimPorts({});
  const address = `127.0.0.1:${ports.temporal}`;
  const settings = [
    'history.transferProcessorMaxPollRPS=10000',
    'history.timerProcessorMaxTimeShift="10ms"',
    'system.enableActivityEagerExecution=true',
    'frontend.namespaceCount=20000',
    ...extra,
  ];
  const child = spawn(
    '.cache/bin/temporal',
    [
      'server',
      'start-dev',
      '--headless',
      '--ip',
      '127.0.0.1',
      '--port',
      String(ports.temporal),
      '--log-level',
      'error',
      ...settings.flatMap((setting) => ['--dynamic-config-value', setting]),
    ],
    { stdio: 'ignore' },
  );
  const deadline = Date.now() + 120_000;
  for (;;) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 10_000 });
      await connection.workflowService.describeNamespace({ namespace: 'default' });
      return {
        address,
        client: new Client({ connection }),
        async stop() {
          await connection.close();
          child.kill('SIGTERM');
          if (child.exitCode === null) await once(child, 'exit');
          release();
        },
      };
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
