import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { kinds, group } from '../../src/api/kinds.ts';
import type { Condition } from '../../src/api/values.ts';
import { startApiServer, until, type ApiServer } from './api-server.ts';
import { asExpected, canonical, fixtures, type Manifest } from './fixtures.ts';

let api: ApiServer;

interface Cause {
  readonly field: string;
  readonly message: string;
}

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const folder = new URL('../../crds/', import.meta.url);

const collection = ({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>, namespace = 'default') =>
  `/apis/${apiVersion}/namespaces/${namespace}/${kinds.find((known) => known.kind === kind)?.plural}`;

/** What the API server would do with it; unknown fields are refused, as kubectl asks for. */
const wouldCreate = (manifest: Manifest) =>
  api.call('POST', `${collection(manifest)}?dryRun=All&fieldValidation=Strict`, manifest);

beforeAll(async () => {
  api = await startApiServer();
  for (const file of await readdir(folder)) {
    const reply = await api.call('POST', crds, parse(await readFile(new URL(file, folder), 'utf8')));
    if (reply.status !== 201) throw new Error(`${file}: ${reply.body.message}`);
  }
  // Served about a second after they are established.
  for (const { kind, version } of kinds) {
    const path = collection({ apiVersion: `${group}/${version}`, kind });
    await until(
      () => api.call('GET', path),
      ({ status }) => status === 200,
    );
  }
});

afterAll(() => api?.stop());

describe.each(kinds)('the CRD of $kind', ({ plural }) => {
  test('is established, and structural', async () => {
    const { body } = await api.call('GET', `${crds}/${plural}.${group}`);
    const conditions = (body.status.conditions as readonly Condition[]).map(
      ({ type, status }) => `${type}=${status}`,
    );
    expect(conditions).toContain('Established=True');
    expect(conditions).not.toContain('NonStructuralSchema=True');
  });
});

describe('the API server', () => {
  test.each([...fixtures('good'), ...fixtures('late')])('admits $title', async ({ manifest }) => {
    const { status, body } = await wouldCreate(manifest);
    expect([status, body.message]).toEqual([201, undefined]);
    // It applies the same defaults and keeps every field: what is stored means what was written.
    expect(canonical(body)).toEqual(canonical(manifest));
  });

  test.each(fixtures('bad'))('refuses $title in the same words', async ({ manifest, expected }) => {
    const { status, body } = await wouldCreate(manifest);
    expect(status).toBe(422);

    const causes = body.details.causes as readonly Cause[];
    expect(causes.map(({ field, message }) => `${field}: ${message}`)).toContainEqual(asExpected(expected));
  });

  test('takes an input of a megabyte', async () => {
    const { status } = await wouldCreate({
      apiVersion: `${group}/v1alpha1`,
      kind: 'Query',
      metadata: { name: 'long' },
      spec: {
        input: 'x'.repeat(2 ** 20),
        parameters: [{ name: 'p', value: 'y'.repeat(1000) }],
        selector: {},
      },
    });
    expect(status).toBe(201);
  });

  test('takes lists as long as they may be, and says which item of them is wrong', async () => {
    const parameters = Array.from({ length: 256 }, (_, index) => ({
      name: `p${index}`,
      value: index < 255 ? 'x' : '',
    }));
    const members = Array.from({ length: 256 }, (_, index) => ({ name: `member-${index}`.padEnd(253, 'x') }));
    const edges = members
      .slice(0, 128)
      .map(({ name }, index) => ({ from: name, to: members[255 - index]?.name }));
    const apiVersion = `${group}/v1alpha1`;

    const query = {
      apiVersion,
      kind: 'Query',
      metadata: { name: 'q' },
      spec: { input: 'x', selector: {}, parameters },
    };
    expect((await wouldCreate(query)).body.message).toContain("parameter[255] 'p255': must specify");

    const team = {
      apiVersion,
      kind: 'Team',
      metadata: { name: 't' },
      spec: { strategy: 'graph', members, graph: { edges } },
    };
    const { status, body } = await wouldCreate(team);
    expect([status, body.message]).toEqual([201, undefined]);
  });
});

describe('an object older than the rules', () => {
  // As ARK's CRD would have let it in with its webhooks switched off.
  const older = {
    apiVersion: `${group}/v1alpha1`,
    kind: 'Query',
    metadata: { name: 'older', finalizers: ['ark.mckinsey.com/finalizer'] },
    spec: { input: 'hello' },
  };
  const path = `${collection(older)}/older`;
  const schemaPath = '/spec/versions/0/schema/openAPIV3Schema/properties/spec';
  const merge = 'application/merge-patch+json';

  test('can still be labelled, get a status, and be deleted', async () => {
    const { body: crd } = await api.call('GET', `${crds}/queries.${group}`);
    const schema = crd.spec.versions[0].schema.openAPIV3Schema.properties.spec;
    const setRules = (value: unknown) =>
      api.call(
        'PATCH',
        `${crds}/queries.${group}`,
        [{ op: 'add', path: `${schemaPath}/x-kubernetes-validations`, value }],
        'application/json-patch+json',
      );

    await setRules([]);
    await until(
      () => api.call('POST', collection(older), older),
      ({ status }) => status === 201,
    );
    await setRules(schema['x-kubernetes-validations']);
    await until(
      () => wouldCreate({ ...older, metadata: { name: 'newer' } }),
      ({ status }) => status === 422,
    );

    const replies = [
      await api.call('PATCH', path, { metadata: { labels: { a: 'b' } } }, merge),
      await api.call('PATCH', `${path}/status`, { status: { phase: 'error', error: 'why' } }, merge),
      await api.call('DELETE', path),
      await api.call('PATCH', path, { metadata: { finalizers: null } }, merge),
      await api.call('GET', path),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404]);
  });
});

describe('kubectl', () => {
  test('applies the manifests', async () => {
    const directory = fileURLToPath(new URL('fixtures/good/', import.meta.url));
    const printed = await api.kubectl('apply', '--dry-run=server', '-f', directory);
    expect(printed.trim().split('\n')).toHaveLength(fixtures('good').length);
  });

  test('prints what a Query has come to', async () => {
    const query = {
      apiVersion: `${group}/v1alpha1`,
      kind: 'Query',
      metadata: { name: 'shown' },
      spec: { input: 'hi', selector: {} },
    };
    await api.call('POST', collection(query), query);
    const status = {
      phase: 'done',
      duration: '812.4ms',
      tokenUsage: { totalTokens: 70, modelCalls: 1 },
      progress: { turn: 3, speaker: 'critic' },
      responses: [{ target: { type: 'agent', name: 'a' }, content: 'hello', phase: 'done' }],
      conditions: [
        {
          type: 'Completed',
          status: 'True',
          reason: 'QuerySucceeded',
          message: '',
          lastTransitionTime: '2025-09-01T10:00:00Z',
        },
      ],
      temporal: { workflowId: 'w', runId: 'r', url: 'http://127.0.0.1/' },
    };
    const { status: code, body } = await api.call(
      'PATCH',
      `${collection(query)}/shown/status?fieldValidation=Strict`,
      { status },
      'application/merge-patch+json',
    );
    expect([code, body.status]).toEqual([200, status]);

    const [heading, row] = (await api.kubectl('get', 'queries', 'shown', '-o', 'wide')).split('\n');
    expect(heading?.split(/\s+/)).toEqual([
      'NAME',
      'PHASE',
      'DURATION',
      'EVALUATIONS',
      'AGE',
      'TURN',
      'SPEAKER',
      'TOKENS',
      'ERROR',
    ]);
    expect(row).toMatch(/^shown\s+done\s+812\.4ms\s+\S+\s+3\s+critic\s+70\s*$/);
    await expect(
      api.kubectl('wait', '--for=condition=Completed', 'query/shown', '--timeout=5s'),
    ).resolves.toContain('condition met');
  });
});
