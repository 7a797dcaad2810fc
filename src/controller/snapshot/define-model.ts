import { canonicalModel } from '../../api/canonical-model.ts';
import type { Source } from '../../api/canonical-values.ts';
import { providers } from '../../api/model.ts';
import type { ModelDefinition, Value } from '../../api/snapshot.ts';
import { shown } from './definitions.ts';
import type { Definitions, NamespacedName } from './definitions.ts';
import { resolveValue } from './resolve-values.ts';
import { notYet, valid, within } from './unbuildable.ts';

/** Contract section 3.11: who speaks where nobody is named. */
const modelNameDefault = 'default';

/** The Model with everything but its Secrets resolved; its values lie in the Model's own namespace. */
export async function defineModel(
  { name = modelNameDefault, namespace }: { readonly name?: string | undefined; readonly namespace: string },
  read: Definitions,
): Promise<ModelDefinition> {
  const key: NamespacedName = { namespace, name };
  const { spec } = await read.get('models', key);
  const model = valid(`model ${shown(key)}`, canonicalModel(spec));
  if (model.type === 'bedrock') throw notYet(`model ${shown(key)} is of type bedrock`);

  const word = providers[model.type];
  const value = (what: string, source: Source): Promise<Value> =>
    within(`failed to resolve ${what}: `, () => resolveValue(source, namespace, read));

  const apiVersion = model.type === 'azure' ? model.apiVersion : undefined;
  const properties = Object.entries(model.properties);
  const [provided, baseUrl, apiKey, version, ...extra] = await Promise.all([
    value('model', model.model),
    value(`${word} BaseURL`, model.baseUrl),
    value(`${word} APIKey`, model.apiKey),
    apiVersion && value(`${word} APIVersion`, apiVersion),
    ...properties.map(([property, source]) => value(`${word} property ${property}`, source)),
  ]);

  return {
    namespace,
    name,
    type: model.type,
    model: provided,
    baseUrl,
    apiKey,
    ...(version && { apiVersion: version }),
    properties: Object.fromEntries(properties.map(([property], i) => [property, extra[i] as Value])),
  };
}
