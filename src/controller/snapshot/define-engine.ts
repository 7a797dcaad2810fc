import type { CanonicalAgent } from '../../api/canonical-agent.ts';
import { canonicalA2aServer } from '../../api/canonical-a2a-server.ts';
import { canonicalExecutionEngine } from '../../api/canonical-execution-engine.ts';
import type { A2aEngineDefinition, EngineDefinition, ExecuteEngineDefinition } from '../../api/snapshot.ts';
import type { Ref } from '../../api/values.ts';
import { shown } from './definitions.ts';
import type { Definition } from './definitions.ts';
import { defineAgentModel } from './define-model.ts';
import { resolveHeaders } from './resolve-headers.ts';
import type { Draft } from './draft.ts';
import { resolveValue } from './resolve-values.ts';
import { Unbuildable, valid, within } from './unbuildable.ts';

/** The name under which an agent's engine means the A2A server it was discovered on. */
const a2aName = 'a2a';

/** Who answers for an agent that has an engine (contract sections 4.13 and 4.14). */
export function defineEngine(
  agent: Definition,
  spec: CanonicalAgent,
  engine: Ref,
  draft: Draft,
): Promise<EngineDefinition> {
  return engine.name === a2aName ? a2aServerOf(agent, draft) : namedEngine(agent, spec, engine, draft);
}

/** The annotations are the discovery's; the server's address is read anew, its Secrets in the agent's namespace. */
async function a2aServerOf(agent: Definition, draft: Draft): Promise<A2aEngineDefinition> {
  const { namespace } = agent;
  const address = agent.annotations['a2a.server/address'];
  const name = agent.annotations['a2a.server/name'];
  if (!address) throw missing('a2a.server/address');
  if (!name) throw missing('a2a.server/name');

  const key = { namespace, name };
  const found = await within(`A2A agent execution failed: unable to get A2AServer ${shown(key)}: `, () =>
    draft.read.get('a2aservers', key),
  );
  const server = valid(`A2AServer ${shown(key)}`, canonicalA2aServer(found.spec));
  const [current, headers] = await Promise.all([
    within(`failed to resolve address of A2AServer ${shown(key)}: `, () =>
      resolveValue(server.address, namespace, draft.read),
    ),
    resolveHeaders(server.headers, namespace, draft),
  ]);
  return { type: 'a2a', namespace, name, address: current, headers };
}

const missing = (annotation: string): Unbuildable =>
  new Unbuildable('DefinitionInvalid', `A2A agent missing ${annotation} annotation`);

async function namedEngine(
  agent: Definition,
  spec: CanonicalAgent,
  { name, namespace = '' }: Ref,
  draft: Draft,
): Promise<ExecuteEngineDefinition> {
  const key = { namespace: namespace || agent.namespace, name };
  const found = await within(`execution engine ${name} not found in namespace ${key.namespace}: `, () =>
    draft.read.get('executionengines', key),
  );
  const engine = valid(`execution engine ${shown(key)}`, canonicalExecutionEngine(found.spec, found));
  const [address, model] = await Promise.all([
    within('failed to resolve execution engine address: ', () =>
      resolveValue(engine.address, key.namespace, draft.read),
    ),
    defineAgentModel(agent, spec.modelRef, draft),
  ]);
  return {
    type: 'engine',
    ...key,
    address,
    protocol: engine.protocol,
    model,
    description: spec.description ?? '',
    parameters: spec.parameters.flatMap(({ name: parameter, source }) =>
      source.from === 'literal' ? [{ name: parameter, value: source.value }] : [],
    ),
  };
}
