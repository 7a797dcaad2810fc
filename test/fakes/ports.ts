import type { Ports } from '../../src/activities/ports.ts';
import { createEvaluators } from '../../src/adapters/evaluators/create-evaluators.ts';
import { createModels } from '../../src/adapters/models/create-models.ts';
import { templates } from '../../src/adapters/templates/templates.ts';
import { runBuiltIn } from '../../src/adapters/tools/built-in.ts';
import { createHttpTools } from '../../src/adapters/tools/http-tool.ts';
import type { Access, SecretRef } from '../../src/api/snapshot.ts';

export const access: Access = { namespace: 'default', serviceAccount: 'runner' };

const models = createModels();
const httpTools = createHttpTools();
const evaluators = createEvaluators();

/** The real adapters; only the Secrets are played, each by its `namespace/name/key`. */
export function portsWith(secrets: Readonly<Record<string, string>> = {}): Ports {
  return {
    models,
    httpTools,
    builtIns: { run: runBuiltIn },
    templates,
    evaluators,
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
