import { agentToolProblem, canonicalAgentTool, modelRefOf } from '../../api/canonical-agent.ts';
import { AgentSpec } from '../../api/agent.ts';
import { isInvalid, readSpec } from '../../api/problems.ts';
import { absence, trouble } from './absence.ts';
import { admitParameters } from './admit-parameters.ts';
import type { Reader, Reviewed } from './ports.ts';
import { inArkWords } from './schema-words.ts';

/** Contract 2.3. Whether the execution engine exists is not looked at, as in ARK. */
export async function* admitAgent(
  { namespace, spec: written }: Reviewed,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  const spec = readSpec(AgentSpec, written);
  if (isInvalid(spec)) return yield* inArkWords('Agent', spec, written);

  yield* admitModelOf(spec, namespace, read);
  yield* admitParameters(spec.parameters, namespace, read);

  for (const [index, tool] of (spec.tools ?? []).entries()) {
    yield* agentToolProblem(tool, index);
    const { type, name } = canonicalAgentTool(tool);
    const absent = type === 'custom' && name && (await absence(read, 'tools', { namespace, name }));
    if (absent) yield `tool[${index}]: ${absent}`;
  }
}

async function* admitModelOf(
  spec: AgentSpec,
  ownNamespace: string,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  // An A2A server answers itself. Other engines are told the model.
  if (spec.executionEngine?.name === 'a2a') return;

  const ref = modelRefOf(spec);
  const key = { namespace: ref?.namespace || ownNamespace, name: ref?.name ?? 'default' };
  const why = await trouble('model', key, () => read.get('models', key));
  if (!why) return;
  yield ref
    ? `model ${key.name} not found in namespace ${key.namespace}: ${why}`
    : `no model specified for agent and no 'default' model found in namespace ${key.namespace}: ${why}`;
}
