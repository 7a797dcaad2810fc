import { parameterSource } from '../../api/canonical-values.ts';
import { mcpHeaderProblem, mcpPollProblem } from '../../api/canonical-mcp-server.ts';
import { McpServerSpec } from '../../api/mcp-server.ts';
import { isInvalid, readSpec } from '../../api/problems.ts';
import { unresolved } from './absence.ts';
import { admitAddress } from './admit-address.ts';
import type { Reader, Reviewed } from './ports.ts';
import { inArkWords } from './schema-words.ts';

/** Contract 2.7, which ARK means to check and does not. */
export async function* admitMcpServer(
  { namespace, spec: written }: Reviewed,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  const spec = readSpec(McpServerSpec, written);
  if (isInvalid(spec)) return yield* inArkWords('MCPServer', spec, written);

  yield* admitAddress(spec.address, namespace, read);
  for (const [index, header] of (spec.headers ?? []).entries()) {
    yield* mcpHeaderProblem(header, index);
    const source = parameterSource(header.value);
    // A parameter of a Query is known once there is a Query.
    if (source.from === 'queryParameter') continue;
    const why = await unresolved(read, source, namespace);
    if (why) yield `failed to validate header ${header.name} (index ${index}): ${why}`;
  }
  yield* mcpPollProblem(spec);
}
