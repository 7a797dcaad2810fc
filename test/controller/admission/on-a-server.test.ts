/** The whole of admission on a real API server: its HTTPS calls, its words, its trust in our certificates. */
import { once } from 'node:events';
import { request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { installInto } from '../../../src/adapters/install/install-into.ts';
import { connectKubernetes } from '../../../src/adapters/kubernetes/connection.ts';
import type { KubernetesConnection } from '../../../src/adapters/kubernetes/connection.ts';
import { createLogger } from '../../../src/adapters/telemetry/logger.ts';
import { group, kinds } from '../../../src/api/kinds.ts';
import { sharedCertificate } from '../../../src/controller/admission/certificate-secret.ts';
import { startAdmission } from '../../../src/controller/admission/run-admission.ts';
import type { Admission, AdmissionSettings } from '../../../src/controller/admission/run-admission.ts';
import { claimPorts } from '../../../src/dev/ports.ts';
import { waitUntil } from '../../../src/dev/wait-until.ts';
import { startApiServer } from '../../api/api-server.ts';
import type { ApiServer } from '../../api/api-server.ts';

const namespace = 'arkwright-system';
const configurations =
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/ark-validating-webhook-configuration';

let server: ApiServer;
let connection: KubernetesConnection;
let admission: Admission;

const start = (more: Partial<AdmissionSettings> = {}): Admission =>
  startAdmission(
    connection,
    {},
    {
      by: 'url',
      host: '127.0.0.1',
      port: 0,
      failurePolicy: 'Fail',
      namespace,
      logger: createLogger({ level: 'silent', name: 'test' }),
      ...more,
    },
  );

const kindOf = (kind: string) => kinds.find((one) => one.kind === kind)!;
const pathOf = (kind: string) => {
  const { version, plural } = kindOf(kind);
  return `/apis/${group}/${version}/namespaces/default/${plural}`;
};
const object = (kind: string, name: string, spec: object, metadata: object = {}) => ({
  apiVersion: `${group}/${kindOf(kind).version}`,
  kind,
  metadata: { name, ...metadata },
  spec,
});
const create = (kind: string, name: string, spec: object, query = '') =>
  server.call('POST', `${pathOf(kind)}${query}`, object(kind, name, spec));
const patch = (kind: string, name: string, change: object, subresource = '') =>
  server.call('PATCH', `${pathOf(kind)}/${name}${subresource}`, change, 'application/merge-patch+json');
const team = (...members: string[]) => ({
  strategy: 'sequential',
  members: members.map((name) => ({ type: name.startsWith('team') ? 'team' : 'agent', name })),
});
const model = {
  type: 'openai',
  model: { value: 'm' },
  config: { openai: { baseUrl: { value: 'http://x/v1' }, apiKey: { value: 'k' } } },
};
const denied = (webhook: string, message: string) => ({
  status: 403,
  body: { reason: 'Forbidden', message: `admission webhook "${webhook}" denied the request: ${message}` },
});
/** The API server acts on a new configuration a moment after it has taken it. */
const asks = () =>
  waitUntil(
    async () =>
      (await create('Agent', 'probe', { modelRef: { name: 'none' } }, '?dryRun=All')).status === 403,
    {
      what: 'the API server to ask',
      timeoutMs: 120_000,
    },
  );

beforeAll(async () => {
  server = await startApiServer();
  connection = connectKubernetes({ kubeconfig: server.kubeconfig });
  await installInto(connection, { tenants: [] });
  admission = start();
  await admission.active;
  await asks();
  await create('Model', 'default', model);
  await create('Agent', 'ann', { prompt: 'You are ann.' });
});
afterAll(async () => {
  await admission?.stop();
  await connection?.close();
  await server?.stop();
});

describe('what is wrong is refused, in ARK’s words', () => {
  test.each([
    [
      'Query',
      'vquery-v1.kb.io',
      { input: 'hi', targets: [{ type: 'agent', name: 'none' }] },
      "target[0] references agent 'none' does not exist in namespace 'default': agents.ark.mckinsey.com \"none\" not found",
    ],
    [
      'Agent',
      'vagent-v1.kb.io',
      { parameters: [{ name: 'p', valueFrom: { configMapKeyRef: { name: 'none', key: 'k' } } }] },
      "parameter[0] 'p': configMap 'none' does not exist in namespace 'default': configmaps \"none\" not found",
    ],
    [
      'Team',
      'vteam-v1.kb.io',
      team('ann', 'none'),
      "team member 1 references agent: agent 'none' does not exist in namespace 'default': agents.ark.mckinsey.com \"none\" not found",
    ],
    [
      'Tool',
      'vtool-v1.kb.io',
      { type: 'http', http: { url: 'https://x' }, inputSchema: { type: 'thing' } },
      "invalid inputSchema: invalid schema type 'thing': must be one of object, array, string, number, integer, boolean, null",
    ],
    [
      'Model',
      'vmodel-v1.kb.io',
      {
        ...model,
        config: {
          openai: {
            ...model.config.openai,
            apiKey: { valueFrom: { secretKeyRef: { name: 'none', key: 'k' } } },
          },
        },
      },
      "spec.config.openai.apiKey: secret 'none' does not exist in namespace 'default': secrets \"none\" not found",
    ],
    [
      'MCPServer',
      'vmcpserver-v1.kb.io',
      { address: { valueFrom: { serviceRef: { name: 'none' } } } },
      'failed to resolve Address: failed to get service default/none: services "none" not found',
    ],
    [
      'ExecutionEngine',
      'vexecutionengine-v1prealpha1.kb.io',
      { type: 'x', address: { valueFrom: { configMapKeyRef: { name: 'none', key: 'k' } } } },
      'failed to resolve Address: failed to get configMap default/none: configmaps "none" not found',
    ],
    [
      'Evaluator',
      'vevaluator-v1alpha1.kb.io',
      { address: { value: 'http://x' }, parameters: [{ name: 'model.name', value: 'none' }] },
      "failed to validate model 'none': model 'none' does not exist in namespace 'default': models.ark.mckinsey.com \"none\" not found",
    ],
    [
      'Evaluation',
      'vevaluation-v1alpha1.kb.io',
      { evaluator: { name: 'none' }, config: { input: 'i', output: 'o' } },
      "evaluator reference validation failed: evaluator 'none' does not exist in namespace 'default': evaluators.ark.mckinsey.com \"none\" not found",
    ],
  ])('%s', async (kind, webhook, spec, message) => {
    expect(await create(kind, 'bad', spec)).toMatchObject(denied(webhook, message));
  });

  test('an A2AServer has all of it in one message', async () => {
    const both = { value: 'v', valueFrom: { secretKeyRef: { name: 'n', key: 'k' } } };
    const reply = await create('A2AServer', 'bad', { address: both });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.body.message).toContain('address cannot specify both value and valueFrom');
  });

  test('kubectl shows it', async () => {
    const error = await server
      .kubectl(
        'create',
        '--dry-run=server',
        '-o',
        'name',
        '-f',
        await written(object('Agent', 'bad', { model: { name: 'none' } })),
      )
      .catch((err: Error) => err.message);
    expect(error).toContain(
      'admission webhook "vagent-v1.kb.io" denied the request: model none not found in namespace default: models.ark.mckinsey.com "none" not found',
    );
  });
});

test('a key of a Secret is looked for, and no value of it is shown', async () => {
  const secret = { metadata: { name: 'keys' }, stringData: { token: 'canary' } };
  await server.call('POST', '/api/v1/namespaces/default/secrets', secret);
  const from = (key: string) => ({
    input: 'hi',
    targets: [{ type: 'agent', name: 'ann' }],
    parameters: [{ name: 'p', valueFrom: { secretKeyRef: { name: 'keys', key } } }],
  });
  expect(await create('Query', 'with-key', from('token'))).toMatchObject({ status: 201 });
  const reply = await create('Query', 'without-key', from('other'));
  expect(reply).toMatchObject(
    denied(
      'vquery-v1.kb.io',
      "parameter[0] 'p': key 'other' not found in secret 'keys' in namespace 'default'",
    ),
  );
  expect(JSON.stringify(reply)).not.toContain('canary');
});

test('objects that refer to each other can be applied one right after the other', async () => {
  for (let round = 0; round < 10; round++) {
    expect(await create('Agent', `quick-${round}`, {})).toMatchObject({ status: 201 });
    expect(await create('Team', `crew-${round}`, team(`quick-${round}`))).toMatchObject({ status: 201 });
  }
});

test('a circle of teams cannot be closed, at any length', async () => {
  await create('Team', 'team-c', team('ann'));
  await create('Team', 'team-b', team('team-c'));
  await create('Team', 'team-a', team('ann', 'team-b'));
  expect(await patch('Team', 'team-c', { spec: team('ann', 'team-a') })).toMatchObject(
    denied(
      'vteam-v1.kb.io',
      "team member 1: team 'team-c' contains itself: team-c → team-a → team-b → team-c",
    ),
  );
  expect(await patch('Team', 'team-b', { spec: team('team-a') })).toMatchObject(
    denied('vteam-v1.kb.io', "team member 0: team 'team-b' contains itself: team-b → team-a → team-b"),
  );
});

test('an object that has turned bad keeps its status, its labels, and can go', async () => {
  await create('Agent', 'leaving', {});
  const query = object(
    'Query',
    'turned',
    { input: 'hi', targets: [{ type: 'agent', name: 'leaving' }] },
    { finalizers: ['ark.mckinsey.com/finalizer'] },
  );
  expect(await server.call('POST', pathOf('Query'), query)).toMatchObject({ status: 201 });
  await server.call('DELETE', `${pathOf('Agent')}/leaving`);

  expect(await patch('Query', 'turned', { status: { phase: 'running' } }, '/status')).toMatchObject({
    status: 200,
  });
  expect(await patch('Query', 'turned', { metadata: { labels: { a: 'b' } } })).toMatchObject({ status: 200 });
  expect(await patch('Query', 'turned', { spec: { cancel: true } })).toMatchObject({ status: 403 });

  await server.call('DELETE', `${pathOf('Query')}/turned`);
  expect(await patch('Query', 'turned', { metadata: { finalizers: null } })).toMatchObject({ status: 200 });
  expect(await server.call('GET', `${pathOf('Query')}/turned`)).toMatchObject({ status: 404 });
});

test('a dry run is checked and changes nothing', async () => {
  expect(await create('Agent', 'dry', { model: { name: 'none' } }, '?dryRun=All')).toMatchObject({
    status: 403,
  });
  expect(await create('Agent', 'dry', {}, '?dryRun=All')).toMatchObject({ status: 201 });
  expect(await server.call('GET', `${pathOf('Agent')}/dry`)).toMatchObject({ status: 404 });
});

test('replicas that start together share one certificate', async () => {
  await server.call('DELETE', `/api/v1/namespaces/${namespace}/secrets/arkwright-webhook-tls`);
  const options = { namespace, hosts: ['127.0.0.1'] };
  const all = await Promise.all(Array.from({ length: 5 }, () => sharedCertificate(connection, options)));
  expect(new Set(all.map(({ certificate }) => certificate)).size).toBe(1);

  const wider = await sharedCertificate(connection, { namespace, hosts: ['arkwright.example.com'] });
  expect(await sharedCertificate(connection, options)).toEqual(wider);
});

test('an address that is no longer served is taken out of the configuration, another’s is not', async () => {
  const second = start();
  await second.active;
  await admission.stop();
  expect(await server.call('GET', configurations)).toMatchObject({ status: 200 });

  await second.stop();
  expect(await server.call('GET', configurations)).toMatchObject({ status: 404 });
  const isUnchecked = async () =>
    (await create('Agent', 'unchecked', { model: { name: 'none' } }, '?dryRun=All')).status === 201;
  await waitUntil(isUnchecked, { what: 'the API server to ask no more', timeoutMs: 120_000 });
  admission = start();
  await admission.active;
  await asks();
});

test('by a Service, the API server finds a certificate for the Service’s name, and stopping one replica changes nothing', async () => {
  await admission.stop();
  const { ports, release } = await claimPorts({});
  const replica = start({ by: 'service', port: ports.webhook });
  await replica.active;
  const { body } = await server.call('GET', configurations);
  for (const { clientConfig } of body.webhooks) {
    expect(clientConfig.service).toMatchObject({ namespace, name: 'arkwright-webhook', port: 443 });
    expect(clientConfig.service.path).toMatch(/^\/validate-ark-mckinsey-com-v1(pre)?alpha1-[a-z0-9]+$/);
  }

  const asked = request({
    host: '127.0.0.1',
    port: ports.webhook,
    path: '/healthz',
    // As the API server does it: it speaks to an address and expects the name.
    servername: `arkwright-webhook.${namespace}.svc`,
    ca: Buffer.from(body.webhooks[0].clientConfig.caBundle as string, 'base64'),
    agent: false,
  });
  asked.end();
  const [response] = await once(asked, 'response');
  expect(response.statusCode).toBe(200);
  response.destroy();

  await replica.stop();
  release();
  expect((await server.call('GET', configurations)).body.webhooks).toEqual(body.webhooks);
  await server.call('DELETE', configurations);
  admission = start();
  await admission.active;
  await asks();
});

test('what ARK’s chart has left there is taken over', async () => {
  const annotations = { 'cert-manager.io/inject-ca-from': 'ark-system/serving-cert', team: 'platform' };
  await admission.stop();
  await server.call('POST', configurations.slice(0, configurations.lastIndexOf('/')), {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'ark-validating-webhook-configuration', annotations },
  });
  admission = start();
  await admission.active;
  const { body } = await server.call('GET', configurations);
  expect(body.metadata.annotations).toEqual({ team: 'platform' });
  expect(body.webhooks).toHaveLength(10);
  await asks();
});

test('certificates are renewed while requests flow, and none of these fails', async () => {
  await admission.stop();
  const secret = `/api/v1/namespaces/${namespace}/secrets/arkwright-webhook-tls`;
  const certificate = async () => (await server.call('GET', secret)).body.data['tls.crt'] as string;
  await server.call('DELETE', secret);

  // A third of its life is left for a certificate to be replaced.
  admission = start({ lifeMs: 18_000, upkeepMs: 200 });
  await admission.active;
  await asks();
  const seen = new Set<string>();
  while (seen.size < 3) {
    expect(await create('Agent', 'steady', { model: { name: 'none' } }, '?dryRun=All')).toMatchObject(
      denied(
        'vagent-v1.kb.io',
        'model none not found in namespace default: models.ark.mckinsey.com "none" not found',
      ),
    );
    seen.add(await certificate());
    await pause(50);
  }
});

async function written(manifest: object): Promise<string> {
  const { writeFile } = await import('node:fs/promises');
  const file = `${server.kubeconfig}-manifest.json`;
  await writeFile(file, JSON.stringify(manifest));
  return file;
}
