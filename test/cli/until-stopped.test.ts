import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../../src/cli/until-stopped.ts', import.meta.url));

/** A process whose work takes this as its answer to a stop; ready when it has printed its first line. */
async function processThat(answer: string) {
  const code = `
    import { untilStopped } from ${JSON.stringify(file)};
    const hold = setInterval(() => {}, 1000);
    await untilStopped(async (signal) => {
      console.log('working');
      await new Promise((resolve, reject) => signal.addEventListener('abort', () => { ${answer} }));
    });
    clearInterval(hold);
    console.log('stopped well');
  `;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  const lines = child.stdout.setEncoding('utf8');
  await once(lines, 'data');
  lines.on('data', (text: string) => (out += text));
  return {
    send: (signal: NodeJS.Signals) => child.kill(signal),
    said: () => out,
    next: () => once(lines, 'data'),
    ended: once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  };
}

test.each(['SIGTERM', 'SIGINT'] as const)('%s lets the work stop by itself', async (signal) => {
  const running = await processThat('resolve()');
  running.send(signal);
  expect(await running.ended).toEqual([0, null]);
  expect(running.said()).toContain('stopped well');
});

test('work that ends with the reason of the stop has stopped well', async () => {
  const running = await processThat('reject(signal.reason)');
  running.send('SIGTERM');
  expect(await running.ended).toEqual([0, null]);
});

test('a second signal ends what does not want to stop', async () => {
  const running = await processThat("setTimeout(() => console.log('still stopping'), 1000)");
  const patienceIsOver = running.next();
  running.send('SIGINT');
  await patienceIsOver;
  running.send('SIGINT');
  expect(await running.ended).toEqual([130, null]);
  expect(running.said()).not.toContain('stopped well');
});

test('the same signal from the terminal and from npm is one', async () => {
  const running = await processThat(
    "console.log('stopping'); process.kill(process.pid, 'SIGINT'); setTimeout(resolve, 100)",
  );
  running.send('SIGINT');
  expect(await running.ended).toEqual([0, null]);
  expect(running.said()).toContain('stopped well');
});
