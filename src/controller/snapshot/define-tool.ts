import { builtInTools } from '../../adapters/tools/built-in.ts';
import type { CanonicalAgentTool } from '../../api/canonical-agent.ts';
import { canonicalTool } from '../../api/canonical-tool.ts';
import type { CanonicalTool } from '../../api/canonical-tool.ts';
import { canonicalMcpServer } from '../../api/canonical-mcp-server.ts';
import type {
  HttpToolDefinition,
  JsonSchema,
  McpToolDefinition,
  ToolDefinition,
} from '../../api/snapshot.ts';
import type { OnError } from '../../api/values.ts';
import { shown } from './definitions.ts';
import type { Definition, NamespacedName } from './definitions.ts';
import type { Draft } from './draft.ts';
import { resolveHeaders } from './resolve-headers.ts';
import { resolveParameters, resolveValue } from './resolve-values.ts';
import { valid, within } from './unbuildable.ts';

/** A tool, and what its failure means for the agent that uses it. */
export interface OfferedTool {
  readonly tool: ToolDefinition;
  readonly onError: OnError;
}

/** One tool as an agent's spec lists it; `namespace` is the agent's. */
export async function defineAgentTool(
  entry: CanonicalAgentTool,
  namespace: string,
  draft: Draft,
): Promise<OfferedTool> {
  const { tool, onError } =
    entry.type === 'built-in' ? builtIn(entry) : await customTool({ namespace, name: entry.name }, draft);
  // Contract section 4.9: only `jq` does anything, and an empty expression does nothing.
  const filters = entry.functions.filter(({ name, value }) => name === 'jq' && value !== '');
  return {
    tool: {
      ...tool,
      ...(entry.description && { description: entry.description }),
      ...(filters.length > 0 && { filters: filters.map(({ value }) => value) }),
    },
    onError: entry.onError ?? onError,
  };
}

const builtIn = ({ name, alias = name }: Extract<CanonicalAgentTool, { type: 'built-in' }>): OfferedTool => ({
  tool: { ...builtInTools[name], name: alias },
  onError: 'fail',
});

const customTool = (key: NamespacedName, draft: Draft): Promise<OfferedTool> =>
  within(`failed to load tool ${shown(key)}: `, async () =>
    defineTool(await draft.read.get('tools', key), draft),
  );

/** A Tool object. Its name is what the model calls it by. */
export async function defineTool(found: Definition, draft: Draft): Promise<OfferedTool> {
  const spec = valid(`tool ${shown(found)}`, canonicalTool(found.spec));
  const tool =
    spec.type === 'mcp' ? await defineMcpTool(found, spec, draft) : await defineHttpTool(found, spec, draft);
  return { tool, onError: spec.onError };
}

/** Headers are read in the namespace of the tool, not of its server (contract section 4.10). */
async function defineMcpTool(
  { namespace, name, annotations }: Definition,
  tool: Extract<CanonicalTool, { type: 'mcp' }>,
  draft: Draft,
): Promise<McpToolDefinition> {
  const key = { namespace: tool.server.namespace || namespace, name: tool.server.name };
  const found = await within(`failed to get MCPServer ${shown(key)}: `, () =>
    draft.read.get('mcpservers', key),
  );
  const server = valid(`MCPServer ${shown(key)}`, canonicalMcpServer(found.spec));
  const [address, headers] = await Promise.all([
    within(`failed to resolve address of MCPServer ${shown(key)}: `, () =>
      resolveValue(server.address, key.namespace, draft.read),
    ),
    resolveHeaders(server.headers, namespace, draft),
  ]);
  return {
    type: 'mcp',
    name,
    description: tool.description || annotations['description'] || `Custom tool: ${name}`,
    parameters: { ...anyObject, ...tool.inputSchema },
    server: { ...key, transport: server.transport, address, headers, timeoutMs: server.timeoutMs },
    toolName: tool.toolName,
    repeatable: tool.repeatable,
  };
}

async function defineHttpTool(
  { namespace, name, annotations }: Definition,
  tool: Extract<CanonicalTool, { type: 'http' }>,
  draft: Draft,
): Promise<HttpToolDefinition> {
  const { url, method, timeoutMs, body, repeatable } = tool;
  const [headers, bodyParameters] = await Promise.all([
    resolveHeaders(tool.headers, namespace, draft),
    within('failed to resolve body parameters: ', () =>
      resolveParameters(tool.bodyParameters, namespace, draft.read, draft.queryParameters),
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
