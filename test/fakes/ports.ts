import type { Ports } from '../../src/activities/ports.ts';
import { createA2a } from '../../src/adapters/a2a/create-a2a.ts';
import { createEngines } from '../../src/adapters/engines/create-engines.ts';
import { createEvaluators } from '../../src/adapters/evaluators/create-evaluators.ts';
import { createFilters } from '../../src/adapters/filters/create-filters.ts';
import { createMcp } from '../../src/adapters/mcp/create-mcp.ts';
import { createMemories } from '../../src/adapters/memory/create-memories.ts';
import { createModels } from '../../src/adapters/models/create-models.ts';
import { createOutputs } from '../../src/adapters/output/create-outputs.ts';
import { createStreams } from '../../src/adapters/streams/create-streams.ts';
import { templates } from '../../src/adapters/templates/templates.ts';
import { runBuiltIn } from '../../src/adapters/tools/built-in.ts';
import { createHttpTools } from '../../src/adapters/tools/http-tool.ts';
import type { Access, SecretRef } from '../../src/api/snapshot.ts';

export const access: Access = { namespace: 'default', serviceAccount: 'runner' };

const a2a = createA2a();
const adapters = {
  models: createModels(),
  httpTools: createHttpTools(),
  builtIns: { run: runBuiltIn },
  templates,
  mcp: createMcp(),
  // A thread may take long to start; runaway filters have tests of their own.
  filters: createFilters({ timeoutMs: 60_000 }),
  outputs: createOutputs(),
  a2a,
  engines: createEngines(a2a),
  memories: createMemories(),
  streams: createStreams(),
  evaluators: createEvaluators(),
};

/** The real adapters; only the Secrets are played, each by its `namespace/name/key`. */
export function portsWith(secrets: Readonly<Record<string, string>> = {}): Ports {
  return {
    ...adapters,
    secrets: {
      async read({ namespace, name, key }: SecretRef, reader: Access) {
        if (reader !== access && reader.serviceAccount !== access.serviceAccount)
          throw secretError('Forbidden', `failed to get secret ${namespace}/${name}: forbidden`);
        const value = secrets[`${namespace}/${name}/${key}`];
        if (value === undefined)
          throw secretError('NotFound', `key ${key} not found in secret ${namespace}/${name}`);
        return value;
      },
    },
  };
}

export const secretError = (code: string, message: string) => Object.assign(new Error(message), { code });
