import { canonicalAgent } from '../../api/canonical-agent.ts';
import type { AgentPlan, ToolDefinition } from '../../api/snapshot.ts';
import { shown } from './definitions.ts';
import type { Definition } from './definitions.ts';
import { defineModel } from './define-model.ts';
import { defineAgentTool } from './define-tool.ts';
import { define } from './draft.ts';
import type { Draft } from './draft.ts';
import { resolveParameters } from './resolve-values.ts';
import { resolveText } from './resolve-text.ts';
import { notYet, valid, within } from './unbuildable.ts';

/** Puts an Agent, with its Model and its tools, into the draft. */
export async function defineAgent(found: Definition, draft: Draft): Promise<AgentPlan> {
  const { namespace, name } = found;
  const known = draft.agents[name];
  if (known) return known;

  const spec = valid(`agent ${shown(found)}`, canonicalAgent(found.spec));
  if (spec.executionEngine)
    throw notYet(`agent ${shown(found)} uses execution engine ${spec.executionEngine.name}`);

  const [model, tools, parameters] = await Promise.all([
    within(`failed to load model for agent ${shown(found)}: `, () =>
      defineModel(
        { name: spec.modelRef?.name, namespace: spec.modelRef?.namespace || namespace },
        draft.read,
      ),
    ),
    Promise.all(spec.tools.map((tool) => defineAgentTool(tool, namespace, draft))),
    within(`agent ${shown(found)} prompt resolution failed: failed to resolve parameters: `, () =>
      resolveParameters(spec.parameters, namespace, draft.read, draft.queryParameters),
    ),
  ]);
  const prompt = await within(`agent ${shown(found)} prompt resolution failed: `, () =>
    resolveText(spec.prompt, 'agent-prompt', parameters),
  );

  const definition = define(draft, {
    kind: 'agent',
    namespace,
    name,
    prompt,
    model,
    tools: lastOfEachName(tools),
    ...(spec.outputSchema && { outputSchema: spec.outputSchema }),
    access: draft.access,
  });
  return (draft.agents[name] = { type: 'agent', name, definition, model: model.name });
}

/** Contract section 4.9: several entries of one name are one tool, as the last says. */
const lastOfEachName = (tools: readonly ToolDefinition[]): ToolDefinition[] => [
  ...new Map(tools.map((tool) => [tool.name, tool])).values(),
];
