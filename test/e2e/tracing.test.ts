import { targetSpanIdOf, traceIdOf } from '../../src/adapters/telemetry/span-ids.ts';
import { startCollector, type Collector } from '../fakes/collector.ts';
import { startScriptedModel, type ScriptedModel } from '../../src/dev/scripted-model.ts';
import { ended } from './sample-services.ts';
import { waitFor, withStack } from './stack.ts';

const canary = 'canary-51c2-never-traced';

let collector: Collector;
let model: ScriptedModel;
// Before the stack is started: its processes inherit this.
beforeAll(async () => {
  collector = await startCollector();
  model = await startScriptedModel({ script: () => ({ content: 'hello' }) });
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '100';
});
const cluster = withStack();
afterAll(async () => {
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  delete process.env['OTEL_BSP_SCHEDULE_DELAY'];
  await Promise.all([collector.close(), model.close()]);
});

test('what is asked with kubectl is one trace, of controller and worker together', async () => {
  const ark = (kind: string, name: string, spec: object) => ({
    apiVersion: 'ark.mckinsey.com/v1alpha1',
    kind,
    metadata: { name },
    spec,
  });
  const key = { valueFrom: { secretKeyRef: { name: 'llm', key: 'token' } } };
  const openai = { baseUrl: { value: model.baseUrl }, apiKey: key };
  const objects = [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'llm' }, stringData: { token: canary } },
    ark('Model', 'default', { type: 'openai', model: { value: 'gpt-4o' }, config: { openai } }),
    ark('Agent', 'ann', { prompt: 'You are ann.' }),
    ark('Query', 'ann', { input: 'Hi', targets: [{ type: 'agent', name: 'ann' }] }),
  ];
  await cluster.kubectl(['apply', '-f', '-'], objects.map((object) => JSON.stringify(object)).join('\n'));
  await ended(cluster, 'ann');
  const uid = await cluster.kubectl(['get', 'query', 'ann', '-o', 'jsonpath={.metadata.uid}']);

  const ofQuery = () => collector.spans.filter(({ traceId }) => traceId === traceIdOf(uid));
  await waitFor(() => ofQuery().length >= 2, { what: 'two spans' });
  const names = () => collector.spans.map(({ name }) => name);
  await waitFor(() => names().includes('controller.startup'), { what: 'the start of the controller' });
  const root = targetSpanIdOf(uid, 0);
  expect(ofQuery()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'query.agent', spanId: root, parentId: '', status: 'ok' }),
      expect.objectContaining({ name: 'llm.chat_completion', parentId: root, status: 'ok' }),
    ]),
  );
  expect(collector.wire()).not.toContain(canary);
});
