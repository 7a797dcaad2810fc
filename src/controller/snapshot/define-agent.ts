import { canonicalAgent } from '../../api/canonical-agent.ts';
import type { CanonicalAgent } from '../../api/canonical-agent.ts';
import type { AgentPlan, Text, ToolDefinition } from '../../api/snapshot.ts';
import type { Ref } from '../../api/values.ts';
import { shown } from './definitions.ts';
import type { Definition } from './definitions.ts';
import { defineEngine } from './define-engine.ts';
import { defineAgentModel } from './define-model.ts';
import { defineAgentTool } from './define-tool.ts';
import type { OfferedTool } from './define-tool.ts';
import { define } from './draft.ts';
import type { Draft } from './draft.ts';
import { resolveParameters } from './resolve-values.ts';
import { resolveText } from './resolve-text.ts';
import { valid, within } from './unbuildable.ts';

/** Puts an Agent, with its Model or its engine, and with its tools, into the draft. */
export async function defineAgent(found: Definition, draft: Draft): Promise<AgentPlan> {
  const known = draft.agents[found.name];
  if (known) return known;

  const spec = valid(`agent ${shown(found)}`, canonicalAgent(found.spec));
  const { executionEngine } = spec;
  const plan = executionEngine
    ? await withEngine(found, spec, executionEngine, draft)
    : await withModel(found, spec, draft);
  return (draft.agents[found.name] = plan);
}

async function withModel(found: Definition, spec: CanonicalAgent, draft: Draft): Promise<AgentPlan> {
  const [model, offered, prompt] = await Promise.all([
    defineAgentModel(found, spec.modelRef, draft),
    toolsOf(found, spec, draft),
    promptOf(found, spec, draft),
  ]);
  const { namespace, name } = found;
  const tools = offered.map(({ tool }) => tool);
  const definition = define(draft, { kind: 'agent', ...every(found, spec, draft, prompt, tools), model });
  const forgiven = offered.filter(({ onError }) => onError === 'continue').map(({ tool }) => tool.name);
  return {
    type: 'agent',
    name,
    definition,
    model: model.namespace === namespace ? model.name : shown(model),
    ...('value' in model.model && { provider: model.model.value }),
    ...(tools.length > 0 && { tools: Object.fromEntries(tools.map((tool) => [tool.name, kindOf(tool)])) }),
    ...(forgiven.length > 0 && { forgiven }),
  };
}

async function withEngine(
  found: Definition,
  spec: CanonicalAgent,
  executionEngine: Ref,
  draft: Draft,
): Promise<AgentPlan> {
  const [engine, offered, prompt] = await Promise.all([
    defineEngine(found, spec, executionEngine, draft),
    toolsOf(found, spec, draft),
    promptOf(found, spec, draft),
  ]);
  const tools = offered.map(({ tool }) => tool);
  const definition = define(draft, {
    kind: 'engine-agent',
    ...every(found, spec, draft, prompt, tools),
    engine,
  });
  const plan = { type: 'agent', name: found.name, definition, model: engine.name, hasEngine: true } as const;
  if (engine.type !== 'a2a') return plan;
  const address = 'value' in engine.address ? engine.address.value : '';
  return { ...plan, a2a: { server: engine.name, address } };
}

/** As ARK's Events name it (contract section 6.1). */
function kindOf(tool: ToolDefinition): NonNullable<AgentPlan['tools']>[string] {
  if (tool.filters) return 'filtered';
  if (tool.type === 'built-in') return 'builtin';
  return tool.type === 'mcp' ? 'mcp' : 'custom';
}

const every = (
  { namespace, name }: Definition,
  { outputSchema }: CanonicalAgent,
  { access }: Draft,
  prompt: Text,
  tools: readonly ToolDefinition[],
) => ({ namespace, name, prompt, tools, ...(outputSchema && { outputSchema }), access });

/** Contract section 4.9: several entries of one name are one tool, as the last says. */
async function toolsOf(
  { namespace }: Definition,
  spec: CanonicalAgent,
  draft: Draft,
): Promise<readonly OfferedTool[]> {
  const offered = await Promise.all(spec.tools.map((tool) => defineAgentTool(tool, namespace, draft)));
  return [...new Map(offered.map((one) => [one.tool.name, one])).values()];
}

async function promptOf(found: Definition, spec: CanonicalAgent, draft: Draft): Promise<Text> {
  const where = `agent ${shown(found)} prompt resolution failed: `;
  const parameters = await within(`${where}failed to resolve parameters: `, () =>
    resolveParameters(spec.parameters, found.namespace, draft.read, draft.queryParameters),
  );
  return within(where, () => resolveText(spec.prompt, 'agent-prompt', parameters));
}
