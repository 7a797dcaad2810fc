/** An Agent: a prompt, a model and tools (contract 1.3). */
import { z } from 'zod';
import { everyItem, rules } from './rules.ts';
import { AgentParameters, Conditions, JsonSchema, listMax, nameMax, OnError, Ref } from './values.ts';

/** Names of the tools that need no Tool object; `terminate_team` is an older page's `terminate` (contract 9, row 15). */
export const builtInTools = { noop: 'noop', terminate: 'terminate', terminate_team: 'terminate' } as const;

export const AgentTool = z.object({
  type: z
    .enum(['built-in', 'custom', 'mcp', 'http'])
    .optional()
    .describe('Told from the name if absent. mcp and http are newer spellings of custom.'),
  name: z.string().min(1).max(nameMax).optional(),
  description: z.string().optional().describe("Replaces the tool's own description."),
  functions: z
    .array(z.object({ name: z.string().min(1), value: z.string().optional() }))
    .optional()
    .describe('Applied to the result in turn; jq is the only one.'),
  onError: OnError.optional().describe(
    "continue tells the model the tool's error; the Tool decides if absent.",
  ),
});
export type AgentTool = z.infer<typeof AgentTool>;

const isBuiltIn = "(has(t.type) && t.type == 'built-in')";
const builtInNames = Object.keys(builtInTools)
  .map((name) => `'${name}'`)
  .join(', ');

const every = (holds: string, message: (index: string, tool: string) => string) =>
  everyItem({ list: 'self', item: 't', holds, message });

const AgentTools = z
  .array(AgentTool)
  .max(listMax.tools)
  .meta(
    rules(
      every(
        `!${isBuiltIn} || has(t.name)`,
        (index) => `'tool[' + ${index} + ']: built-in tools must specify a name'`,
      ),
      every(
        `!${isBuiltIn} || !has(t.name) || t.name in [${builtInNames}]`,
        (index, tool) =>
          `'tool[' + ${index} + "]: unsupported built-in tool '" + ${tool}.name + "': supported built-in tools are: noop, terminate"`,
      ),
      every(
        `${isBuiltIn} || has(t.name)`,
        (index) => `'tool[' + ${index} + ']: custom tools must specify a name'`,
      ),
    ),
  );

export const AgentSpec = z.object({
  prompt: z.string().optional().describe('The system message; a Go template where there are parameters.'),
  description: z.string().optional().describe('What a selector team is told about this agent.'),
  modelRef: Ref.optional().describe('The Model that speaks; the one named default if absent.'),
  model: Ref.extend({ type: z.string().optional() }).optional().describe('Another spelling of modelRef.'),
  executionEngine: Ref.optional().describe('Who runs this agent instead; the name a2a is reserved.'),
  tools: AgentTools.optional(),
  parameters: AgentParameters.optional().describe('Values for the template in the prompt.'),
  outputSchema: JsonSchema.optional().describe('JSON schema of the answer.'),
});
export type AgentSpec = z.infer<typeof AgentSpec>;

export const AgentStatus = z.object({ conditions: Conditions.optional() });
