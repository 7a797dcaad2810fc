import {
  addressProblem,
  isUnset,
  parameterSource,
  sourceOf,
  type NamedSource,
  type Source,
} from './canonical-values.ts';
import { parseDuration } from './durations.ts';
import { McpServerSpec } from './mcp-server.ts';
import { isInvalid, problemsAmong, readSpec, type Invalid } from './problems.ts';
import type { ServerHeaders } from './values.ts';

export interface CanonicalMcpServer {
  readonly address: Source;
  readonly transport: 'http' | 'sse';
  readonly headers: readonly NamedSource[];
  /** For the connection; a call may take as long as the Query has. */
  readonly timeoutMs: number;
  /** 0: its tools are listed once. */
  readonly pollMs: number;
}

const timeoutMsDefault = 30_000;

/** An MCPServer's spec with every value traced to its source, or what is wrong with it. */
export function canonicalMcpServer(written: unknown): CanonicalMcpServer | Invalid {
  const spec = readSpec(McpServerSpec, written);
  if (isInvalid(spec)) return spec;

  const problems = mcpServerProblems(spec);
  if (problems.length > 0) return { problems };

  const timeoutMs = parseDuration(spec.timeout) ?? 0;
  return {
    address: sourceOf(spec.address),
    transport: spec.transport,
    headers: (spec.headers ?? []).map(({ name, value }) => ({ name, source: parameterSource(value) })),
    // ARK never reads it: what it cannot mean must not stop a server that works there.
    timeoutMs: timeoutMs > 0 ? timeoutMs : timeoutMsDefault,
    pollMs: parseDuration(spec.pollInterval) ?? 0,
  };
}

/** What one MCPServer can tell about itself (contract 2.7). */
const mcpServerProblems = (spec: McpServerSpec): readonly string[] => [
  ...problemsAmong(addressProblem(spec.address)),
  ...(spec.headers ?? []).flatMap(mcpHeaderProblem),
  ...mcpPollProblem(spec),
];

/** As `mcpServerProblems`, of the header at this index. */
export const mcpHeaderProblem = ({ name, value }: ServerHeaders[number], index: number): readonly string[] =>
  problemsAmong(
    isUnset(value) &&
      `failed to validate header ${name} (index ${index}): header value must specify either value or valueFrom.secretKeyRef`,
  );

/** As `mcpServerProblems`, of how often its tools are listed. */
export const mcpPollProblem = ({ pollInterval }: McpServerSpec): readonly string[] =>
  problemsAmong(
    pollInterval.startsWith('-') && 'failed to validate pollInterval: pollInterval cannot be negative',
  );
