import type { Invalid } from '../../api/problems.ts';

type Words = (value: unknown, index: string, owner: unknown) => string;

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/**
 * What ARK's admission says where a schema refuses as well (contract section 2). An API server that has our CRDs never
 * lets these get here; one that still has ARK's, or older ones, does. By the path in the problem; `#` is an index.
 */
const words: Readonly<Record<string, Readonly<Record<string, Words>>>> = {
  Query: {
    'spec.targets[#].type': (type, index) =>
      `target[${index}]: unsupported type '${shown(type)}': supported types are: agent, team, model, tool`,
    'spec.parameters[#].name': (_, index) => `parameter[${index}]: name cannot be empty`,
  },
  Agent: {
    'spec.parameters[#].name': (_, index) => `parameter[${index}]: name cannot be empty`,
    'spec.tools[#].type': (type, index) =>
      `tool[${index}]: unsupported tool type '${shown(type)}': supported types are: built-in, custom, mcp`,
    'spec.tools[#].name': (_, index, tool) =>
      `tool[${index}]: ${(tool as { type?: unknown }).type === 'built-in' ? 'built-in' : 'custom'} tools must specify a name`,
  },
  Tool: {
    'spec.type': (type) => `unsupported tool type '${shown(type)}': supported types are: http, mcp`,
    'spec.inputSchema': () => 'invalid inputSchema: failed to parse inputSchema as JSON: it is not an object',
    'spec.http.url': (url) => (url ? `invalid URL format: ${shown(url)}` : 'URL is required for http tool'),
    'spec.http.method': (method) =>
      `invalid HTTP method '${shown(method)}': supported methods are GET, POST, PUT, DELETE, HEAD, OPTIONS, PATCH`,
    'spec.mcp.mcpServerRef': () => 'MCP server name is required',
    'spec.mcp.mcpServerRef.name': () => 'MCP server name is required',
    'spec.mcp.toolName': () => 'MCP tool name is required',
  },
  Model: {
    'spec.type': (type) => `unsupported model type: ${shown(type)}`,
  },
  Evaluation: {
    'spec.type': (type) =>
      `unsupported evaluation type '${shown(type)}': supported types are: direct, query, batch, baseline, event`,
  },
};

/** What a schema found wrong, as ARK would say it where ARK says anything. */
export function inArkWords(kind: string, { problems }: Invalid, written: unknown): readonly string[] {
  return problems.map((problem) => {
    const path = problem.slice(0, problem.indexOf(': '));
    const say = words[kind]?.[path.replace(/\[\d+\]/, '[#]')];
    if (!say) return problem;

    const owner = valueAt(path.slice(0, path.lastIndexOf('.')), written);
    return say(valueAt(path, written), /\[(\d+)\]/.exec(path)?.[1] ?? '', owner);
  });
}

function valueAt(path: string, written: unknown): unknown {
  const parts = path.split(/[.[\]]+/).slice(1);
  return parts
    .filter((part) => part !== '')
    .reduce<unknown>(
      (value, part) =>
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined,
      written,
    );
}
