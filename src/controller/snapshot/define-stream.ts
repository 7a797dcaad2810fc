import { parse } from 'yaml';
import { z } from 'zod';
import type { CanonicalQuery } from '../../api/canonical-query.ts';
import type { Hash } from '../../api/snapshot.ts';
import type { SeenQuery } from '../ports.ts';
import type { Definitions } from './definitions.ts';
import { define } from './draft.ts';
import type { Draft } from './draft.ts';
import { resolveValue } from './resolve-values.ts';
import { Unbuildable } from './unbuildable.ts';

const optIn = 'ark.mckinsey.com/streaming-enabled';
const configMapName = 'ark-config-streaming';

const ServiceRef = z.object({
  name: z.string().min(1),
  namespace: z.string().optional(),
  port: z.union([z.string(), z.int()]).transform(String).optional(),
  path: z.string().optional(),
});

/**
 * Where the answers can be read while they are written (contract section 12): at the service that the ConfigMap
 * `ark-config-streaming` of the Query's namespace names, for a Query that asks for it. Streaming is never in the way:
 * without a service that can be found, the Query runs without it.
 */
export async function defineStream(
  { namespace, name, uid, annotations }: SeenQuery,
  { sessionId = uid }: CanonicalQuery,
  draft: Draft,
): Promise<Hash | undefined> {
  if (annotations[optIn] !== 'true') return undefined;
  const address = await addressOf(namespace, draft.read);
  return address && define(draft, { kind: 'stream', address, query: name, session: sessionId });
}

/** `address` is for a service outside of the cluster, as in the embedded stack. */
async function addressOf(namespace: string, read: Definitions): Promise<string | undefined> {
  try {
    const { enabled, serviceRef = '', address } = await read.configMap({ namespace, name: configMapName });
    if (enabled !== 'true') return undefined;
    if (address) return address;

    const ref = ServiceRef.safeParse(yamlIn(serviceRef));
    if (!ref.success) return undefined;
    const service = await resolveValue({ from: 'service', ...ref.data }, namespace, read);
    return 'value' in service ? service.value : undefined;
  } catch (error) {
    if (error instanceof Unbuildable) return undefined;
    throw error;
  }
}

/** Undefined where the text is no YAML, or some that refers to nothing or to itself. */
function yamlIn(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
