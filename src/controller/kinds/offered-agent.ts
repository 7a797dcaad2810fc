import { a2aServerKind, group } from '../../api/kinds.ts';
import type { AgentCard, Offer, Owner, SeenObject } from './ports.ts';

/** The A2AServer, as its Agent names it. */
export const ownerOf = ({ name, uid }: SeenObject<unknown>): Owner => ({
  apiVersion: `${group}/${a2aServerKind.version}`,
  kind: a2aServerKind.kind,
  name,
  uid,
});

/** The Agent that a server's agent becomes (contract 3.7); `address` is where it is called. */
export function agentOffer(
  server: SeenObject<unknown>,
  { name, description, skills }: AgentCard,
  address: string,
): Offer {
  return {
    namespace: server.namespace,
    name: name.replaceAll(/[_ ]/g, '-').toLowerCase(),
    labels: { 'a2a.server/name': server.name },
    annotations: {
      'a2a.server/name': server.name,
      'a2a.server/address': address,
      'a2a.server/skills': JSON.stringify(skills),
    },
    owner: ownerOf(server),
    spec: {
      description,
      prompt: `You are ${name}. ${description}`,
      executionEngine: { name: 'a2a' },
    },
  };
}
