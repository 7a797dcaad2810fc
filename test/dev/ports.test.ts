import { createServer } from 'node:net';
import { claimPorts, offsetsMax, type PortClaim, type Ports } from '../../src/dev/ports.ts';

const claims: PortClaim[] = [];
const claim = async (...choice: Parameters<typeof claimPorts>) => {
  const claimed = await claimPorts(...choice);
  claims.push(claimed);
  return claimed.ports;
};
const releaseAll = () => claims.splice(0).forEach((each) => each.release());
afterEach(releaseAll);

const all = (ports: Ports) => Object.values({ ...ports, offset: [] }).flat();

test('two stacks never share a port, and none comes from the range of outgoing connections', async () => {
  const taken = [...all(await claim({})), ...all(await claim({})), ...all(await claim({}))];
  expect(new Set(taken).size).toBe(taken.length);
  expect(Math.max(...taken)).toBeLessThan(32_768);
});

test('an offset is a fixed set of ports', async () => {
  const first = await claim({ wanted: 97 });
  releaseAll();
  expect(await claim({ wanted: 97 })).toEqual(first);
});

test('the remembered ports are taken again if they are free, else others', async () => {
  const { offset } = await claim({ remembered: 96 });
  expect(offset).toBe(96);
  expect((await claim({ remembered: 96 })).offset).not.toBe(96);
});

test('an offset in use is refused with a sentence that says what to do', async () => {
  await claim({ wanted: 95 });
  await expect(claim({ wanted: 95 })).rejects.toThrow(
    /ports of offset 95 are in use.*Choose another --port-offset/,
  );
});

test('a stranger on one of the ports makes the whole offset unusable', async () => {
  const { apiserver } = await claim({ wanted: 94 });
  releaseAll();
  const stranger = createServer();
  await new Promise<void>((listening) => stranger.listen(apiserver, '127.0.0.1', listening));
  try {
    await expect(claim({ wanted: 94 })).rejects.toThrow('in use');
  } finally {
    stranger.close();
  }
});

test.each([-1, 1.5, offsetsMax])('an offset of %s is refused', async (wanted) => {
  await expect(claim({ wanted })).rejects.toThrow('whole number from 0 to 99');
});
