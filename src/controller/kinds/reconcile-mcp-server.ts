import { canonicalMcpServer, type CanonicalMcpServer } from '../../api/canonical-mcp-server.ts';
import type { McpServerStatus } from '../../api/mcp-server.ts';
import { isInvalid } from '../../api/problems.ts';
import type { Next, ObjectKey } from '../ports.ts';
import { contentHash } from '../snapshot/content-hash.ts';
import { Unbuildable } from '../snapshot/unbuildable.ts';
import { recheckMs } from './back-off.ts';
import { resolveAddress, resolveHeaders, secretsAmong, shownValue } from './clear-values.ts';
import { fitToShow } from './fit-to-show.ts';
import { makeOffers } from './make-offers.ts';
import { ownerOf, toolOffers } from './offered-tools.ts';
import type { ListedTool, McpPort, McpServerAddress, SeenObject, ServerPorts } from './ports.ts';
import { reportOn, says, unresolved, type Report, type Says } from './report.ts';

type Status = McpServerStatus;
export type McpServerPorts = ServerPorts<Status> & { readonly mcp: McpPort };

/** The connection and all pages together; contract 4.10 has 120 s for a connection. */
const listMsMax = 120_000;

const initializing = [
  says('Ready', 'False', 'Initializing', 'MCPServer is being initialized'),
  says('Discovering', 'True', 'Starting', 'Starting tool discovery process'),
];
const unconnected = [
  says('Ready', 'False', 'ClientCreationFailed', 'Server not ready due to client creation failure'),
  says(
    'Discovering',
    'False',
    'ClientCreationFailed',
    'Cannot attempt discovery due to client creation failure',
  ),
];
const unlisted = (error: string): readonly Says[] => [
  says('Ready', 'False', 'ToolListingFailed', 'Server not ready due to tool listing failure'),
  says('Discovering', 'True', 'ServerConnectedAndToolListingFailed', error),
];

/**
 * Makes a server's tools Tools (contract 3.4), and lists them anew every `pollInterval`. A server that cannot be asked
 * keeps the Tools it had: it may be back before anybody calls one. Such a server is asked again soon, then ever later,
 * and at once when its spec or what that refers to has changed.
 */
export async function reconcileMcpServer(key: ObjectKey, ports: McpServerPorts): Promise<Next> {
  const server = ports.objects.get(key);
  if (!server) {
    ports.polls.forget(key);
    return 'settled';
  }
  const report = reportOn(server, ports);
  if (!server.status.conditions?.length) await report({}, ...initializing);

  const spec = canonicalMcpServer(server.spec);
  if (isInvalid(spec)) {
    const problem = spec.problems[0] ?? 'invalid';
    await report({ message: problem }, ...(/ Address: /.test(problem) ? unresolved : unconnected));
    return { requeueAfterMs: recheckMs };
  }
  const found = await resolve(server, spec, ports, report);
  if (!found) return { requeueAfterMs: ports.polls.failed(server, 'unresolved', spec.pollMs) };

  const { hash } = found;
  const dueMs = ports.polls.dueInMs(server, hash);
  if (dueMs > 0) return { requeueAfterMs: dueMs };
  const tools = await list(found, ports, report);
  const isDone = tools !== undefined && (await offer(server, tools, ports, report));
  const outcome = isDone ? ports.polls.succeeded : ports.polls.failed;
  return { requeueAfterMs: outcome(server, hash, spec.pollMs) };
}

interface Resolved {
  readonly address: McpServerAddress;
  readonly secrets: readonly string[];
  /** Names what is asked: another address, header or time-out is another question. */
  readonly hash: string;
}

async function resolve(
  server: SeenObject<Status>,
  { address, headers, transport, timeoutMs }: CanonicalMcpServer,
  { values }: McpServerPorts,
  report: Report<Status>,
): Promise<Resolved | undefined> {
  const { namespace, name } = server;
  let failed: readonly Says[] = unresolved;
  try {
    const found = await resolveAddress(address, namespace, values);
    failed = unconnected;
    await report({ resolvedAddress: shownValue(found) });
    const resolved = await resolveHeaders(headers, namespace, values);
    return {
      address: { namespace, name, transport, timeoutMs, address: found.value, headers: resolved.headers },
      secrets: secretsAmong(found, resolved.headers),
      hash: contentHash([transport, timeoutMs, found.print, resolved.prints]),
    };
  } catch (error) {
    if (!(error instanceof Unbuildable)) throw error;
    await report({ message: error.message }, ...failed);
    return undefined;
  }
}

async function list(
  { address, secrets }: Resolved,
  { mcp, stopping }: McpServerPorts,
  report: Report<Status>,
): Promise<readonly ListedTool[] | undefined> {
  const deadline = AbortSignal.timeout(listMsMax);
  try {
    return await mcp.list(address, AbortSignal.any([stopping, deadline]));
  } catch (error) {
    stopping.throwIfAborted();
    const { message, sent = true } = error as Error & { readonly sent?: boolean };
    const why = deadline.aborted
      ? `the server did not list its tools within ${listMsMax / 1_000} s`
      : fitToShow(message, secrets);
    await report({ message: why }, ...(isUnconnected(message, sent) ? unconnected : unlisted(why)));
    return undefined;
  }
}

/** Contract 4.10: the words for a server that was not reached, or did not greet. */
const isUnconnected = (message: string, sent: boolean): boolean =>
  !sent ||
  /^(failed to (start MCP transport|initialize MCP client|create MCP client)|unsupported transport)/.test(
    message,
  );

/** False where not all of them could be offered. */
async function offer(
  server: SeenObject<Status>,
  tools: readonly ListedTool[],
  { offered, announce }: McpServerPorts,
  report: Report<Status>,
): Promise<boolean> {
  const { offers, problems: clashes } = toolOffers(server, tools);
  const { namespace } = server;
  const { problems } = await makeOffers(offers, { owner: ownerOf(server), namespace }, offered);
  const why = [...clashes, ...problems].join('; ');
  if (why) {
    const message = `Failed to create tools: ${why}`;
    await report({ message: why }, says('Ready', 'False', 'ToolCreationFailed', message));
    return false;
  }

  await report(
    { toolCount: tools.length, message: undefined },
    says('Ready', 'True', 'ToolsDiscovered', `Successfully discovered ${tools.length} tools`),
    says('Discovering', 'False', 'DiscoveryComplete', 'Tool discovery completed'),
  );
  announce(server, {
    component: 'mcpserver-controller',
    reason: 'ToolDiscovery',
    message: `tools discovered: ${tools.length}`,
  });
  return true;
}
