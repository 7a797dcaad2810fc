import { builtInTools } from '../../adapters/tools/built-in.ts';
import type { CanonicalAgentTool } from '../../api/canonical-agent.ts';
import { canonicalTool } from '../../api/canonical-tool.ts';
import type { CanonicalTool } from '../../api/canonical-tool.ts';
import type { HttpToolDefinition, JsonSchema, ToolDefinition, Value } from '../../api/snapshot.ts';
import { shown } from './definitions.ts';
import type { Definition, NamespacedName } from './definitions.ts';
import type { Draft } from './draft.ts';
import { resolveParameter, resolveParameters } from './resolve-values.ts';
import { notYet, valid, within } from './unbuildable.ts';

/** One tool as an agent's spec lists it; `namespace` is the agent's. */
export async function defineAgentTool(
  tool: CanonicalAgentTool,
  namespace: string,
  draft: Draft,
): Promise<ToolDefinition> {
  if (tool.functions.some(({ name }) => name === 'jq')) throw notYet(`functions of tool ${tool.name}`);
  const defined =
    tool.type === 'built-in' ? builtIn(tool) : await customTool({ namespace, name: tool.name }, draft);
  return tool.description ? { ...defined, description: tool.description } : defined;
}

function builtIn({ name, alias = name }: Extract<CanonicalAgentTool, { type: 'built-in' }>): ToolDefinition {
  return { ...builtInTools[name], name: alias };
}

const customTool = (key: NamespacedName, draft: Draft): Promise<ToolDefinition> =>
  within(`failed to load tool ${shown(key)}: `, async () =>
    defineTool(await draft.read.get('tools', key), draft),
  );

/** A Tool object. Its name is what the model calls it by. */
export async function defineTool(found: Definition, draft: Draft): Promise<ToolDefinition> {
  const tool = valid(`tool ${shown(found)}`, canonicalTool(found.spec));
  if (tool.type === 'mcp') throw notYet(`tool ${shown(found)} is of type mcp`);
  return defineHttpTool(found, tool, draft);
}

async function defineHttpTool(
  { namespace, name, annotations }: Definition,
  tool: Extract<CanonicalTool, { type: 'http' }>,
  { read, queryParameters }: Draft,
): Promise<HttpToolDefinition> {
  const { url, method, timeoutMs, body, repeatable } = tool;
  const [headers, bodyParameters] = await Promise.all([
    Promise.all(
      tool.headers.map(async (header) => ({
        name: header.name,
        value: await within<Value>(`failed to resolve header ${header.name}: `, () =>
          resolveParameter(header.source, namespace, read, queryParameters),
        ),
      })),
    ),
    within('failed to resolve body parameters: ', () =>
      resolveParameters(tool.bodyParameters, namespace, read, queryParameters),
    ),
  ]);
  return {
    type: 'http',
    name,
    // Contract section 4.8.
    description: tool.description || annotations['description'] || `HTTP request to ${url}`,
    parameters: { ...anyObject, ...tool.inputSchema },
    url,
    method,
    headers,
    timeoutMs,
    ...(body !== undefined && { body }),
    bodyParameters,
    repeatable,
  };
}

const anyObject: JsonSchema = { type: 'object', properties: {} };
