import {
  canonicalHeaders,
  canonicalParameters,
  headerProblems,
  isEmpty,
  parameterSource,
  type NamedSource,
} from './canonical-values.ts';
import { parseDuration } from './durations.ts';
import { isInvalid, problemsAmong, readSpec, type Invalid } from './problems.ts';
import type { HttpToolDefinition, JsonSchema } from './snapshot.ts';
import { ToolSpec } from './tool.ts';
import type { OnError, Ref } from './values.ts';

export type CanonicalTool = {
  readonly description?: string | undefined;
  /** JSON schema of the arguments. */
  readonly inputSchema?: JsonSchema | undefined;
  /** False where the resource says `idempotentHint: false`: then a call that may have arrived is not repeated. */
  readonly repeatable: boolean;
  readonly onError: OnError;
} & (
  | {
      readonly type: 'http';
      readonly url: string;
      readonly method: HttpToolDefinition['method'];
      readonly headers: readonly NamedSource[];
      readonly timeoutMs: number;
      readonly body?: string | undefined;
      readonly bodyParameters: readonly NamedSource[];
    }
  | { readonly type: 'mcp'; readonly server: Ref; readonly toolName: string }
);

/** Contract 4.8: also where the timeout has no unit, which Go's parser refuses. */
const timeoutMsDefault = 30_000;

/** A Tool's spec in one shape for every spelling of contract 9, or what is wrong with it. */
export function canonicalTool(written: unknown): CanonicalTool | Invalid {
  const spec = readSpec(ToolSpec, written);
  if (isInvalid(spec)) return spec;

  const problems = [...toolProblems(spec), ...callProblems(spec)];
  if (problems.length > 0) return { problems };

  const every = {
    description: spec.description,
    inputSchema: spec.inputSchema,
    repeatable: spec.annotations?.idempotentHint !== false,
    onError: spec.onError ?? 'fail',
  };
  const http = httpOf(spec);
  if (http) {
    return {
      ...every,
      type: 'http',
      url: http.url,
      method: http.method,
      headers: canonicalHeaders(http.headers),
      timeoutMs: parseDuration(http.timeout ?? '') || timeoutMsDefault,
      body: http.body || undefined,
      bodyParameters: canonicalParameters(http.bodyParameters),
    };
  }
  return { ...every, type: 'mcp', ...mcpOf(spec) };
}

/** What one Tool can tell about itself (contract 2.5). */
export function toolProblems(spec: ToolSpec): readonly string[] {
  const { type, inputSchema, mcp, mcpServer } = spec;
  const url = httpOf(spec)?.url;
  const invalid = inputSchema && schemaProblem(inputSchema);
  return problemsAmong(
    invalid && `invalid inputSchema: ${invalid}`,
    type !== 'mcp' && url === undefined && 'http spec is required for http type',
    url !== undefined && !isUrl(url) && `invalid URL format: ${url}`,
    type === 'mcp' && !mcp && !mcpServer && 'MCP spec is required for mcp type',
    type === 'mcp' && !mcp && mcpServer && !spec.function && 'MCP tool name is required',
  );
}

/** What ARK finds only when it calls the tool (contract 3.10). */
function callProblems(spec: ToolSpec): readonly string[] {
  const { headers = [], bodyParameters = [] } = httpOf(spec) ?? {};
  return [
    ...headerProblems(headers),
    ...bodyParameters
      .filter((parameter) => isEmpty(parameterSource(parameter)))
      .map(({ name, valueFrom }) =>
        valueFrom
          ? `failed to resolve body parameters: failed to resolve parameter ${name}: no supported valueFrom source specified`
          : `failed to resolve body parameters: parameter ${name} must specify either value or valueFrom`,
      ),
  ];
}

/** The block of an HTTP tool; `fetcher` is its older name. */
const httpOf = ({ type, http, fetcher }: ToolSpec) => (type === 'mcp' ? undefined : (http ?? fetcher));

const mcpOf = ({ mcp, mcpServer, function: toolName }: ToolSpec) => ({
  server: mcp?.mcpServerRef ?? mcpServer ?? { name: '' },
  toolName: mcp?.toolName ?? toolName ?? '',
});

/** As strict as Go's url.Parse where users could notice: a host, a port that is a number, whole percent escapes. */
const isUrl = (url: string) =>
  URL.canParse(url) && !/%(?![0-9A-Fa-f]{2})/.test(url) && !/^[^/]*\/\/[^/?#]*[{}\s]/.test(url);

const schemaTypes = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const schemaDepthMax = 64;

/** Contract 2.5, rule 1. CEL cannot see into a field of any shape, so this is said in status, or by a webhook. */
function schemaProblem(schema: JsonSchema, depth = 0): string | undefined {
  if (depth > schemaDepthMax) return `nested more than ${schemaDepthMax} levels deep`;

  const { type, properties } = schema;
  if (typeof type === 'string' && !schemaTypes.includes(type)) {
    return `invalid schema type '${type}': must be one of ${schemaTypes.join(', ')}`;
  }
  if (type !== 'object' || !isObject(properties)) return undefined;

  for (const [name, property] of Object.entries(properties)) {
    if (name === '') return 'property name cannot be empty';
    const problem = isObject(property) ? schemaProblem(property, depth + 1) : undefined;
    if (problem) return `invalid property '${name}' schema: ${problem}`;
  }
  return undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
