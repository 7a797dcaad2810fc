import type { A2aServerStatus } from '../../api/a2a-server.ts';
import { canonicalA2aServer, type CanonicalA2aServer } from '../../api/canonical-a2a-server.ts';
import { isInvalid } from '../../api/problems.ts';
import type { Next, ObjectKey } from '../ports.ts';
import { contentHash } from '../snapshot/content-hash.ts';
import { Unbuildable } from '../snapshot/unbuildable.ts';
import { recheckMs } from './back-off.ts';
import { resolveAddress, resolveHeaders, secretsAmong, shownValue } from './clear-values.ts';
import { fitToShow } from './fit-to-show.ts';
import { makeOffers } from './make-offers.ts';
import { agentOffer, ownerOf } from './offered-agent.ts';
import type { A2aPort, AgentCard, SeenObject, ServerAddress, ServerPorts } from './ports.ts';
import { reportOn, says, unresolved, type Report, type Says } from './report.ts';

type Status = A2aServerStatus;
export type A2aServerPorts = ServerPorts<Status> & { readonly a2a: A2aPort };

const component = 'a2aserver-controller';
/** Contract 4.13: 30 s; a card may lie in two places. */
const cardMsMax = 60_000;

const initializing = [
  says('Ready', 'False', 'Initializing', 'A2AServer is being initialized'),
  says('Discovering', 'True', 'StartingDiscovery', 'Starting agent discovery process'),
];
const discovering = says('Discovering', 'True', 'DiscoveringAgents', 'Discovering agents from A2A server');
const undiscovered = says('Ready', 'False', 'DiscoveryFailed', 'Server not ready due to discovery failure');
const complete = says('Discovering', 'False', 'DiscoveryComplete', 'Agent discovery completed');
const ready = says('Ready', 'True', 'AgentDiscovered', 'Successfully discovered agent');

/**
 * Makes a server's agent an Agent (contract 3.7), and reads its card anew every `pollInterval`. A server that cannot be
 * asked keeps the Agent it had, and is asked again soon, then ever later, and at once when its spec or what that refers
 * to has changed.
 */
export async function reconcileA2aServer(key: ObjectKey, ports: A2aServerPorts): Promise<Next> {
  const server = ports.objects.get(key);
  if (!server) {
    ports.polls.forget(key);
    return 'settled';
  }
  const report = reportOn(server, ports);
  if (!server.status.conditions?.length) await report({}, ...initializing);

  const spec = canonicalA2aServer(server.spec);
  if (isInvalid(spec)) {
    await report({ message: spec.problems[0] }, ...unresolved);
    return { requeueAfterMs: recheckMs };
  }
  const found = await resolve(server, spec, ports, report);
  if (!found) return { requeueAfterMs: ports.polls.failed(server, 'unresolved', spec.pollMs) };

  const dueMs = ports.polls.dueInMs(server, found.hash);
  if (dueMs > 0) return { requeueAfterMs: dueMs };
  if (!isReady(server)) await report({}, discovering);
  const card = await read(found, ports, report);
  const isDone = card !== undefined && (await offer(server, card, found, ports, report));
  const outcome = isDone ? ports.polls.succeeded : ports.polls.failed;
  return { requeueAfterMs: outcome(server, found.hash, spec.pollMs) };
}

const isReady = ({ status }: SeenObject<Status>): boolean =>
  status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;

interface Resolved {
  readonly address: ServerAddress;
  /** The address as it may be shown. */
  readonly shown: string;
  /** Names what is asked. */
  readonly hash: string;
  readonly secrets: readonly string[];
}

async function resolve(
  server: SeenObject<Status>,
  { address, headers }: CanonicalA2aServer,
  { values }: A2aServerPorts,
  report: Report<Status>,
): Promise<Resolved | undefined> {
  let failed: readonly Says[] = unresolved;
  try {
    const found = await resolveAddress(address, server.namespace, values);
    failed = [discovering, undiscovered];
    await report({ lastResolvedAddress: shownValue(found) });
    const resolved = await resolveHeaders(headers, server.namespace, values);
    return {
      address: { address: found.value, headers: resolved.headers },
      shown: shownValue(found),
      hash: contentHash([found.print, resolved.prints]),
      secrets: secretsAmong(found, resolved.headers),
    };
  } catch (error) {
    if (!(error instanceof Unbuildable)) throw error;
    await report({ message: error.message }, ...failed);
    return undefined;
  }
}

async function read(
  { address, secrets }: Resolved,
  { a2a, stopping }: A2aServerPorts,
  report: Report<Status>,
): Promise<AgentCard | undefined> {
  const deadline = AbortSignal.timeout(cardMsMax);
  try {
    return await a2a.card(address, AbortSignal.any([stopping, deadline]));
  } catch (error) {
    stopping.throwIfAborted();
    const why = deadline.aborted
      ? `the server did not show its card within ${cardMsMax / 1_000} s`
      : fitToShow(error instanceof Error ? error.message : String(error), secrets);
    await report({ message: why }, discovering, undiscovered);
    return undefined;
  }
}

/** False where the Agent could not be made. */
async function offer(
  server: SeenObject<Status>,
  card: AgentCard,
  { shown }: Resolved,
  { offered, announce }: A2aServerPorts,
  report: Report<Status>,
): Promise<boolean> {
  const agent = agentOffer(server, card, shown);
  const { namespace } = server;
  const { created, problems } = await makeOffers([agent], { owner: ownerOf(server), namespace }, offered);
  if (created.length > 0) {
    const message = `Agent created: ${agent.name} with ${card.skills?.length ?? 0} skills`;
    announce(server, { component, reason: 'AgentCreated', message });
  }
  if (problems.length > 0) {
    const why = problems.join('; ');
    const message = `Failed to create agent: ${why}`;
    await report({ message: why }, says('Ready', 'False', 'AgentCreationFailed', message));
    return false;
  }
  await report({ message: undefined }, complete, ready);
  if (!isReady(server))
    announce(server, { component, reason: 'AgentDiscovery', message: 'agent discovered' });
  return true;
}
