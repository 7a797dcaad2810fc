import { fileURLToPath } from 'node:url';
import { installInto, type InstallOptions } from '../../../src/adapters/install/install-into.ts';
import { connectKubernetes, type KubernetesConnection } from '../../../src/adapters/kubernetes/connection.ts';
import { group as arkGroup, kinds } from '../../../src/api/kinds.ts';
import { startApiServer, type ApiServer } from '../../api/api-server.ts';
import { waitFor } from '../../e2e/stack.ts';

let server: ApiServer;
let connection: KubernetesConnection;

beforeAll(async () => {
  server = await startApiServer();
  connection = connectKubernetes({ kubeconfig: server.kubeconfig });
});

afterAll(async () => {
  await connection?.close();
  await server?.stop();
});

/** `kind/name` of every object, with what happened to it. */
async function install(options: Partial<InstallOptions> = {}): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {};
  await installInto(connection, {
    tenants: ['team-a'],
    onObject: ({ kind, metadata: { name } }, outcome) => (outcomes[`${kind}/${name}`] = outcome),
    ...options,
  });
  return outcomes;
}

describe('an installation', () => {
  test('on a dry run says what it would create, and creates nothing', async () => {
    const outcomes = await install({ dryRun: true });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['created']));
    expect(await server.kubectl('get', 'crd', '-o', 'name')).toBe('');
  });

  test('creates everything, and on return every kind can be listed', async () => {
    await server.kubectl('create', 'namespace', 'team-a');
    const outcomes = await install();
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['created']));

    for (const { plural, version } of kinds) {
      const { status } = await server.call('GET', `/apis/${arkGroup}/${version}/${plural}`);
      expect([plural, status]).toEqual([plural, 200]);
    }
  });

  test('repeated changes nothing, and a dry run knows that', async () => {
    expect(new Set(Object.values(await install()))).toEqual(new Set(['unchanged']));
    expect(new Set(Object.values(await install({ dryRun: true })))).toEqual(new Set(['unchanged']));
  });

  test('puts back what somebody changed, and keeps what somebody added', async () => {
    const role = ['clusterrole', 'arkwright-worker'];
    await server.kubectl('patch', ...role, '--type=json', '-p', '[{"op":"remove","path":"/rules/0"}]');
    await server.kubectl('label', ...role, 'owner=platform');

    const outcomes = await install();
    expect(outcomes['ClusterRole/arkwright-worker']).toBe('configured');
    expect(outcomes['ClusterRole/arkwright-controller']).toBe('unchanged');
    const { metadata, rules } = JSON.parse(await server.kubectl('get', ...role, '-o', 'json')) as {
      metadata: { labels: unknown };
      rules: unknown[];
    };
    expect(metadata.labels).toEqual({ owner: 'platform' });
    expect(rules).toHaveLength(2);
  });
});

/** Whether the API server would let a service account do this. `resource` is `plural[/subresource][.group]`. */
async function may(user: string, verb: string, resource: string, namespace = 'team-a'): Promise<boolean> {
  const [, plural = '', subresource, group = ''] = /^(\w+)(?:\/(\w+))?(?:\.(.+))?$/.exec(resource) ?? [];
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${user.split(':')[2]}`];
  const resourceAttributes = { namespace, verb, group, resource: plural, subresource };
  const { body } = await server.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, groups, resourceAttributes },
  });
  return (body as { status: { allowed: boolean } }).status.allowed;
}

/** The API server's authorizer learns of new roles a moment after they are there. */
const whenMay = (expected: boolean, ...question: Parameters<typeof may>) =>
  waitFor(async () => (await may(...question)) === expected, {
    what: `${question.join(' ')} to be ${expected}`,
  });

describe('the rights', () => {
  const controller = 'system:serviceaccount:arkwright-system:arkwright-controller';
  const worker = 'system:serviceaccount:arkwright-system:arkwright-worker';
  const tenant = 'system:serviceaccount:team-a:default';
  const stranger = 'system:serviceaccount:default:default';

  test.each([
    [controller, 'watch', 'queries.ark.mckinsey.com', true],
    [controller, 'patch', 'queries/status.ark.mckinsey.com', true],
    [controller, 'patch', 'queries.ark.mckinsey.com', true],
    [controller, 'delete', 'queries.ark.mckinsey.com', true],
    [controller, 'create', 'subjectaccessreviews.authorization.k8s.io', true],
    [controller, 'impersonate', 'serviceaccounts', true],
    [controller, 'create', 'events', true],
    // In its own name the controller reads the values that what it asks itself needs, by their names.
    [controller, 'get', 'secrets', true],
    [controller, 'get', 'configmaps', true],
    [controller, 'get', 'services', true],
    [controller, 'list', 'secrets', false],
    [controller, 'watch', 'secrets', false],
    // It writes what servers offer, and no definitions of anybody else's.
    [controller, 'create', 'tools.ark.mckinsey.com', true],
    [controller, 'patch', 'tools.ark.mckinsey.com', true],
    [controller, 'delete', 'tools.ark.mckinsey.com', true],
    [controller, 'create', 'agents.ark.mckinsey.com', true],
    [controller, 'delete', 'agents.ark.mckinsey.com', true],
    [controller, 'patch', 'agents.ark.mckinsey.com', true],
    [controller, 'create', 'evaluations.ark.mckinsey.com', true],
    [controller, 'patch', 'evaluations.ark.mckinsey.com', true],
    [controller, 'delete', 'evaluations.ark.mckinsey.com', true],
    [controller, 'update', 'mcpservers/finalizers.ark.mckinsey.com', true],
    [controller, 'update', 'a2aservers/finalizers.ark.mckinsey.com', true],
    [controller, 'create', 'queries.ark.mckinsey.com', false],
    [controller, 'patch', 'models.ark.mckinsey.com', false],
    [controller, 'delete', 'mcpservers.ark.mckinsey.com', false],
    [controller, 'impersonate', 'users', false],
    [worker, 'impersonate', 'serviceaccounts', true],
    [worker, 'create', 'events', true],
    [worker, 'get', 'secrets', false],
    [worker, 'get', 'queries.ark.mckinsey.com', false],
    [tenant, 'get', 'secrets', true],
    [tenant, 'get', 'configmaps', true],
    [tenant, 'get', 'services', true],
    [tenant, 'list', 'agents.ark.mckinsey.com', true],
    [tenant, 'list', 'secrets', false],
    [tenant, 'create', 'queries.ark.mckinsey.com', false],
    [stranger, 'get', 'secrets', false],
  ])('%s may %s %s: %s', async (user, verb, resource, expected) => {
    await whenMay(expected, user, verb, resource);
  });

  test.each(kinds.map(({ plural }) => plural))(
    'over %s are what the contract asks for (section 8)',
    async (plural) => {
      const resource = `${plural}.ark.mckinsey.com`;
      const granted = async (user: string, verbs: readonly string[], of = resource) => {
        const asked = verbs.map(async (verb) => ((await may(user, verb, of)) ? [verb] : []));
        return (await Promise.all(asked)).flat();
      };
      const reading = ['get', 'list', 'watch'];
      expect(await granted(controller, reading)).toEqual(reading);
      const status = `${plural}/status.ark.mckinsey.com`;
      expect(await granted(controller, ['get', 'patch', 'update'], status)).toEqual(['get', 'patch']);
      // Whoever a Query runs as reads what it names, and finds what its selectors match.
      expect(await granted(tenant, ['get', 'list', 'watch', 'create', 'patch', 'delete'])).toEqual([
        'get',
        'list',
      ]);
      expect(await granted(worker, reading)).toEqual([]);
    },
  );

  test('of people reach every kind, as far as each role says', async () => {
    const roles = { viewer: 'view', editor: 'edit', admin: 'admin' };
    for (const [role, aggregated] of Object.entries(roles)) {
      const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/arkwright-${role}`;
      const { body } = await server.call('GET', path);
      const label = `rbac.authorization.k8s.io/aggregate-to-${aggregated}`;
      expect(body.metadata.labels).toEqual({ [label]: 'true' });
      expect(body.rules[0].resources).toEqual(kinds.map(({ plural }) => plural));
      const reading = ['get', 'list', 'watch'];
      const writing = ['create', 'delete', ...reading, 'patch', 'update'];
      const verbs = { viewer: reading, editor: writing, admin: [...writing, 'deletecollection'] }[role];
      expect(body.rules[0].verbs.toSorted()).toEqual(verbs?.toSorted());
      expect(body.rules[1]).toEqual({ apiGroups: [arkGroup], resources: ['*/status'], verbs: ['get'] });
    }
  });

  test('leases only in the namespace of Arkwright', async () => {
    await whenMay(true, controller, 'update', 'leases.coordination.k8s.io', 'arkwright-system');
    expect(await may(controller, 'update', 'leases.coordination.k8s.io', 'team-a')).toBe(false);
  });

  test('of the webhook are there only where it is asked for', async () => {
    const configuration = 'validatingwebhookconfigurations.admissionregistration.k8s.io';
    const rights = async () => [
      await may(controller, 'create', 'secrets', 'arkwright-system'),
      await may(controller, 'create', configuration),
    ];
    expect(await rights()).toEqual([false, false]);
    expect(await install({ webhook: true })).toMatchObject({ 'Service/arkwright-webhook': 'created' });
    await waitFor(async () => !(await rights()).includes(false), { what: 'both rights' });
    expect(await may(controller, 'create', 'secrets')).toBe(false);
    expect(await may(controller, 'update', configuration)).toBe(false);
  });

  test('of the tenant "all" reach every namespace, also where nobody listens to what is installed', async () => {
    await installInto(connection, { tenants: ['all'] });
    await whenMay(true, stranger, 'get', 'secrets', 'default');
  });
});

test('what deploy/ holds is accepted as a whole', async () => {
  const deploy = fileURLToPath(new URL('../../../deploy', import.meta.url));
  const applied = await server.kubectl('apply', '--dry-run=server', '-f', deploy);
  expect(applied).toMatch(/deployment.apps\/arkwright-controller created/);
  expect(applied).toMatch(/deployment.apps\/arkwright-worker created/);
});
