import { canonicalModel } from '../../api/canonical-model.ts';
import type { Source } from '../../api/canonical-values.ts';
import { providers } from '../../api/providers.ts';
import type { ModelDefinition, Value } from '../../api/snapshot.ts';
import type { Ref } from '../../api/values.ts';
import { shown } from './definitions.ts';
import type { Definitions, NamespacedName } from './definitions.ts';
import type { Draft } from './draft.ts';
import { resolveValue } from './resolve-values.ts';
import { unlessUnreadable, valid, within } from './unbuildable.ts';

/** Contract section 3.11: who speaks where nobody is named. */
const modelNameDefault = 'default';

/** The Model of an Agent: the one it names, or that named `default` beside it. */
export const defineAgentModel = (
  agent: NamespacedName,
  ref: Ref | undefined,
  { read }: Draft,
): Promise<ModelDefinition> =>
  within(`failed to load model for agent ${shown(agent)}: `, () =>
    defineModel({ name: ref?.name, namespace: ref?.namespace || agent.namespace }, read),
  );

/** The Model with everything but its Secrets resolved; its values lie in the Model's own namespace. */
export async function defineModel(
  { name = modelNameDefault, namespace }: { readonly name?: string | undefined; readonly namespace: string },
  read: Definitions,
): Promise<ModelDefinition> {
  const key: NamespacedName = { namespace, name };
  const { spec } = await read.get('models', key);
  const model = valid(`model ${shown(key)}`, canonicalModel(spec));

  const word = providers[model.type];
  const value = (what: string, source: Source): Promise<Value> =>
    within(`failed to resolve ${what}: `, () => resolveValue(source, namespace, read));
  // ARK does without what it cannot read of them (contract section 4.5).
  const optional = async <K extends string>(field: K, source: Source | undefined) => {
    const known = source && (await unlessUnreadable(resolveValue(source, namespace, read)));
    return (known ? { [field]: known } : {}) as { readonly [_ in K]?: Value };
  };

  const properties = Object.entries(model.properties);
  const [provided, ...extra] = await Promise.all([
    value('model', model.model),
    ...properties.map(([property, source]) => value(`${word} property ${property}`, source)),
  ]);
  const every = {
    namespace,
    name,
    model: provided,
    properties: Object.fromEntries(properties.map(([property], i) => [property, extra[i] as Value])),
  };

  if (model.type !== 'bedrock') {
    const version = model.type === 'azure' ? model.apiVersion : undefined;
    return {
      ...every,
      type: model.type,
      baseUrl: await value(`${word} BaseURL`, model.baseUrl),
      apiKey: await value(`${word} APIKey`, model.apiKey),
      ...(version && { apiVersion: await value(`${word} APIVersion`, version) }),
    };
  }
  const { maxTokens, temperature } = model;
  return {
    ...every,
    type: 'bedrock',
    ...(await optional('region', model.region)),
    ...(await optional('accessKeyId', model.accessKeyId)),
    ...(await optional('secretAccessKey', model.secretAccessKey)),
    ...(await optional('sessionToken', model.sessionToken)),
    ...(await optional('modelArn', model.modelArn)),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
  };
}
