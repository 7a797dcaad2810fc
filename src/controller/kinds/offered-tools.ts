import { group, mcpServerKind } from '../../api/kinds.ts';
import type { JsonSchema } from '../../api/snapshot.ts';
import type { ToolSpec } from '../../api/tool.ts';
import type { ListedTool, Offer, Owner, SeenObject } from './ports.ts';

/** One server with more is not one that a model could choose from. */
export const toolsMax = 500;

/** The MCPServer, as its Tools name it. */
export const ownerOf = ({ name, uid }: SeenObject<unknown>): Owner => ({
  apiVersion: `${group}/${mcpServerKind.version}`,
  kind: mcpServerKind.kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

export interface ToolOffers {
  readonly offers: readonly Offer[];
  /** Tools that cannot be offered beside the others. */
  readonly problems: readonly string[];
}

/** The Tools that an MCPServer's tools become (contract 3.4); the first of two that would have one name has it. */
export function toolOffers(server: SeenObject<unknown>, tools: readonly ListedTool[]): ToolOffers {
  const offers = new Map<string, Offer>();
  const problems: string[] = [];
  for (const tool of tools.slice(0, toolsMax)) {
    const name = `${server.name}-${tool.name.toLowerCase().replaceAll('_', '-')}`;
    if (offers.has(name)) problems.push(`several tools of the server would be the Tool ${name}`);
    else offers.set(name, offerOf(server, tool, name));
  }
  if (tools.length > toolsMax)
    problems.push(`the server has ${tools.length} tools; only the first ${toolsMax} are offered`);
  return { offers: [...offers.values()], problems };
}

function offerOf(server: SeenObject<unknown>, tool: ListedTool, name: string): Offer {
  const { name: serverName, namespace } = server;
  const spec: ToolSpec = {
    type: 'mcp',
    ...(tool.description && { description: tool.description }),
    ...schemaOf(tool.inputSchema),
    ...annotationsOf(tool.annotations),
    mcp: { mcpServerRef: { name: serverName, namespace }, toolName: tool.name },
  };
  return {
    namespace,
    name,
    labels: { 'mcp/server': serverName },
    annotations: {},
    owner: ownerOf(server),
    spec,
  };
}

/** ARK keeps the first three; without the others a schema that refers to its own parts could not be read. */
const kept = ['type', 'properties', 'required', 'additionalProperties', '$defs', 'definitions'];

function schemaOf(schema: JsonSchema = {}): Pick<ToolSpec, 'inputSchema'> {
  const entries = kept.filter((key) => !isEmpty(schema[key])).map((key) => [key, schema[key]] as const);
  return entries.length > 0 ? { inputSchema: Object.fromEntries(entries) } : {};
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** What the server says of a tool; of any other shape it says nothing. */
function annotationsOf(annotations: ListedTool['annotations']): Pick<ToolSpec, 'annotations'> {
  if (!annotations) return {};
  const said = {
    ...(typeof annotations.title === 'string' && { title: annotations.title }),
    ...Object.fromEntries(
      hints
        .filter((hint) => typeof annotations[hint] === 'boolean')
        .map((hint) => [hint, annotations[hint]] as const),
    ),
  };
  return Object.keys(said).length > 0 ? { annotations: said } : {};
}
