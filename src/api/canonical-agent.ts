import { AgentSpec, builtInTools, type AgentTool } from './agent.ts';
import { canonicalParameters, parameterProblems, type NamedSource } from './canonical-values.ts';
import { isInvalid, problemsAmong, readSpec, type Invalid } from './problems.ts';
import type { JsonSchema } from './snapshot.ts';
import type { OnError, Ref } from './values.ts';

export interface CanonicalAgent {
  /** The system message as written; a Go template if there are parameters. */
  readonly prompt: string;
  readonly description?: string | undefined;
  /** Absent: the Model named `default`. */
  readonly modelRef?: Ref | undefined;
  readonly tools: readonly CanonicalAgentTool[];
  readonly parameters: readonly NamedSource[];
  /** Who runs the agent instead of us; `a2a` is an A2A server, any other name an ExecutionEngine. */
  readonly executionEngine?: Ref | undefined;
  readonly outputSchema?: JsonSchema | undefined;
}

export type CanonicalAgentTool = {
  /** Replaces the tool's own description. */
  readonly description?: string | undefined;
  readonly functions: readonly { readonly name: string; readonly value: string }[];
  /** Absent: as the Tool says. */
  readonly onError?: OnError | undefined;
} & (
  | {
      readonly type: 'built-in';
      readonly name: 'noop' | 'terminate';
      /** The name the model is offered, where it is not `name`. */
      readonly alias?: string | undefined;
    }
  | { readonly type: 'custom'; readonly name: string }
);

/** An Agent's spec in one shape for every spelling of contract 9, or what is wrong with it. */
export function canonicalAgent(written: unknown): CanonicalAgent | Invalid {
  const spec = readSpec(AgentSpec, written);
  if (isInvalid(spec)) return spec;

  const problems = agentProblems(spec);
  if (problems.length > 0) return { problems };

  return {
    prompt: spec.prompt ?? '',
    description: spec.description,
    modelRef: modelRefOf(spec),
    tools: (spec.tools ?? []).map(canonicalAgentTool),
    parameters: canonicalParameters(spec.parameters),
    executionEngine: spec.executionEngine,
    outputSchema: spec.outputSchema,
  };
}

/** What one Agent can tell about itself (contract 2.3, rules 2 and 3). */
export const agentProblems = (spec: AgentSpec): readonly string[] => [
  ...parameterProblems(spec.parameters),
  ...(spec.tools ?? []).flatMap(agentToolProblem),
];

/** As `agentProblems`, of the tool at this index. */
export function agentToolProblem({ type, name }: AgentTool, index: number): readonly string[] {
  const tool = `tool[${index}]`;
  if (type !== 'built-in') return problemsAmong(!name && `${tool}: custom tools must specify a name`);
  return problemsAmong(
    !name && `${tool}: built-in tools must specify a name`,
    name !== undefined &&
      !isBuiltIn(name) &&
      `${tool}: unsupported built-in tool '${name}': supported built-in tools are: noop, terminate`,
  );
}

/** `model` may say a provider's type as well; the Model itself knows better. */
export function modelRefOf({ modelRef, model }: AgentSpec): Ref | undefined {
  return modelRef ?? (model && { name: model.name, namespace: model.namespace });
}

/** The tool in one shape; where its type is not given, its name tells whether it is a built-in one. */
export function canonicalAgentTool(tool: AgentTool): CanonicalAgentTool {
  const { type, name = '', description, functions = [], onError } = tool;
  const more = {
    description,
    functions: functions.map(({ name: fn, value = '' }) => ({ name: fn, value })),
    onError,
  };
  const mayBeBuiltIn = type === 'built-in' || type === undefined;
  if (!mayBeBuiltIn || !isBuiltIn(name)) return { type: 'custom', name, ...more };

  const builtIn = builtInTools[name];
  return { type: 'built-in', name: builtIn, ...(name !== builtIn && { alias: name }), ...more };
}

const isBuiltIn = (name: string): name is keyof typeof builtInTools => Object.hasOwn(builtInTools, name);
