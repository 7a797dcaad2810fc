import type { Access, Snapshot } from '../../../src/api/snapshot.ts';
import type { SeenQuery } from '../../../src/controller/ports.ts';
import { buildSnapshot } from '../../../src/controller/snapshot/build-snapshot.ts';
import type { Definition, Definitions, Resource } from '../../../src/controller/snapshot/definitions.ts';
import { Unbuildable } from '../../../src/controller/snapshot/unbuildable.ts';

/** Definitions in memory: `agents: { bot: spec }`, all in namespace `default` unless the name says `other/bot`. */
export interface Shelf extends Partial<Record<Resource, Record<string, object>>> {
  /** By name. */
  readonly labels?: Record<string, Record<string, string>>;
  readonly annotations?: Record<string, Record<string, string>>;
  readonly configMaps?: Record<string, Record<string, string>>;
  readonly services?: Record<string, { name?: string; port: number }[]>;
  /** `agents default/bot`, or `agents default` for all of them: what may not be read. */
  readonly forbidden?: readonly string[];
}

export function readFrom(shelf: Shelf): (access: Access) => Definitions {
  const { labels = {}, annotations = {}, configMaps = {}, services = {}, forbidden = [] } = shelf;

  function allOf(resource: Resource): Definition[] {
    return Object.entries(shelf[resource] ?? {}).map(([path, spec]) => {
      const [namespace, name] = path.includes('/')
        ? (path.split('/') as [string, string])
        : ['default', path];
      return { namespace, name, labels: labels[name] ?? {}, annotations: annotations[name] ?? {}, spec };
    });
  }

  return () => ({
    async get(resource, { namespace, name }) {
      if (forbidden.includes(`${resource} ${namespace}/${name}`))
        throw new Unbuildable('AccessDenied', 'forbidden');
      const found = allOf(resource).find((one) => one.namespace === namespace && one.name === name);
      return found ?? missing(`${resource}.ark.mckinsey.com "${name}"`);
    },
    async list(resource, namespace) {
      if (forbidden.includes(`${resource} ${namespace}`)) throw new Unbuildable('AccessDenied', 'forbidden');
      const all = allOf(resource).filter((one) => one.namespace === namespace);
      return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
    configMap: async ({ namespace, name }) =>
      configMaps[`${namespace}/${name}`] ?? missing(`configmaps "${name}"`),
    servicePorts: async ({ namespace, name }) =>
      services[`${namespace}/${name}`] ?? missing(`services "${name}"`),
  });
}

function missing(what: string): never {
  throw new Unbuildable('DefinitionNotFound', `${what} not found`, { missing: true });
}

export const asking = (spec: object): SeenQuery => ({
  namespace: 'default',
  name: 'hello',
  uid: '6f1c',
  generation: 1,
  createdAt: new Date(0),
  labels: {},
  annotations: {},
  held: true,
  spec: { input: 'hi', targets: [{ type: 'agent', name: 'bot' }], ...spec },
  status: {},
});

/** A Model that needs nothing else. */
export const model = {
  type: 'openai',
  model: { value: 'gpt' },
  config: { openai: { baseUrl: { value: 'http://llm/v1' }, apiKey: { value: 'k' } } },
};

const limits = { toolRounds: 10, turns: 30, concurrency: 4 };

/** The snapshot of a Query, by default one that asks the agent `bot`; `more` is what else is known of it. */
export async function built(
  shelf: Shelf,
  spec: object = {},
  more: Partial<SeenQuery> = {},
): Promise<Snapshot> {
  const result = await buildSnapshot({ ...asking(spec), ...more }, readFrom(shelf), limits);
  if (!('snapshot' in result)) throw new Error(result.failure.message);
  return result.snapshot;
}

/** Why there is none. */
export async function refused(
  shelf: Shelf,
  spec: object = {},
): Promise<{ type: string; message: string; missing?: boolean }> {
  const result = await buildSnapshot(asking(spec), readFrom(shelf), limits);
  if ('snapshot' in result) throw new Error('it was built');
  return { ...result.failure, ...(result.missing && { missing: true }) };
}
