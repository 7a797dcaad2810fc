/** A real Temporal dev server for one test file: in memory, with the settings of the embedded stack. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Client, Connection } from '@temporalio/client';

export interface TemporalForTests {
  readonly address: string;
  readonly client: Client;
  stop(): Promise<void>;
}

/** `extra` are further dynamic settings, such as a lower bound at which runs are asked to continue as new. */
export async function startTemporal(extra: readonly string[] = []): Promise<TemporalForTests> {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
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
      String(port),
      '--log-level',
      'error',
      ...settings.flatMap((setting) => ['--dynamic-config-value', setting]),
    ],
    { stdio: 'ignore' },
  );
  const deadline = Date.now() + 30_000;
  for (;;) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 1000 });
      await connection.workflowService.describeNamespace({ namespace: 'default' });
      return {
        address,
        client: new Client({ connection }),
        async stop() {
          await connection.close();
          child.kill('SIGTERM');
          if (child.exitCode === null) await once(child, 'exit');
        },
      };
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
