import { built, model, type Shelf } from './shelf.ts';

const bot: Shelf = { models: { default: model }, agents: { bot: {} } };
const asked = { 'ark.mckinsey.com/streaming-enabled': 'true' };
const serviceRef = 'name: ark-broker\nnamespace: ark\nport: http\n';
const services = {
  'ark/ark-broker': [
    { name: 'grpc', port: 1 },
    { name: 'http', port: 3000 },
  ],
};

async function streamOf(
  config: Record<string, string> | undefined,
  { annotations = asked, spec = {} }: { annotations?: Record<string, string>; spec?: object } = {},
) {
  const configMaps = config && { 'default/ark-config-streaming': config };
  const shelf = { ...bot, services, ...(configMaps && { configMaps }) };
  const { stream, definitions } = await built(shelf, spec, { annotations });
  return stream && definitions[stream];
}

const broker = 'http://ark-broker.ark.svc.cluster.local:3000';

test('answers are streamed to the service of the ConfigMap, under the names of Query and session', async () => {
  expect(await streamOf({ enabled: 'true', serviceRef })).toEqual({
    kind: 'stream',
    address: broker,
    query: 'hello',
    session: '6f1c',
  });
  expect(await streamOf({ enabled: 'true', serviceRef }, { spec: { sessionId: 's1' } })).toMatchObject({
    session: 's1',
  });
});

test.each<[string, string]>([
  ['a number for a port', 'name: ark-broker\nnamespace: ark\nport: 3000'],
  ['JSON', '{"name":"ark-broker","namespace":"ark","port":"3000"}'],
])('the service may be written with %s', async (_, written) => {
  expect(await streamOf({ enabled: 'true', serviceRef: written })).toMatchObject({ address: broker });
});

test('a path is the service’s', async () => {
  const written = `${serviceRef}path: /api/`;
  expect(await streamOf({ enabled: 'true', serviceRef: written })).toMatchObject({
    address: `${broker}/api`,
  });
});

test('an address outside of the cluster goes before a service', async () => {
  expect(await streamOf({ enabled: 'true', address: 'http://127.0.0.1:9', serviceRef })).toMatchObject({
    address: 'http://127.0.0.1:9',
  });
});

test.each<[string, Record<string, string>]>([
  ['did not ask for it', {}],
  ['asked not to', { 'ark.mckinsey.com/streaming-enabled': 'false' }],
])('nothing is streamed for a Query that %s', async (_, annotations) => {
  expect(await streamOf({ enabled: 'true', serviceRef }, { annotations })).toBeUndefined();
});

test.each<[string, Record<string, string> | undefined]>([
  ['no ConfigMap', undefined],
  ['an empty one', {}],
  ['one that is switched off', { enabled: 'false', serviceRef }],
  ['no service', { enabled: 'true' }],
  ['a service without a name', { enabled: 'true', serviceRef: 'namespace: ark' }],
  ['a service that is not there', { enabled: 'true', serviceRef: 'name: elsewhere' }],
  [
    'a port that the service lacks',
    { enabled: 'true', serviceRef: 'name: ark-broker\nnamespace: ark\nport: x' },
  ],
  ['a text that is no YAML', { enabled: 'true', serviceRef: '{{{: ]' }],
  ['a list', { enabled: 'true', serviceRef: '- name: ark-broker' }],
  ['an alias of nothing', { enabled: 'true', serviceRef: 'name: *nobody' }],
  ['YAML that unfolds without end', { enabled: 'true', serviceRef: laughs(9) }],
])('a Query runs without a stream where there is %s', async (_, config) => {
  expect(await streamOf(config)).toBeUndefined();
});

/** Each line holds the one before it nine times. */
function laughs(lines: number): string {
  const more = Array.from(
    { length: lines },
    (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]`,
  );
  return ['a0: &a0 [lol]', ...more].join('\n');
}
