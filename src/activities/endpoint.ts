import { failures } from '../api/failures.ts';
import { providers } from '../api/providers.ts';
import type { ModelDefinition, Value } from '../api/snapshot.ts';
import { CallFailure, during } from './failures.ts';
import type { ModelEndpoint } from './ports.ts';
import type { Values } from './values.ts';

/** A model with its values in clear, ready to be asked (contract section 4.5). */
export async function endpointOf(model: ModelDefinition, values: Values): Promise<ModelEndpoint> {
  const { namespace, name } = model;
  return during(`failed to load model ${namespace}/${name}`, () => inClear(model, values));
}

async function inClear(definition: ModelDefinition, values: Values): Promise<ModelEndpoint> {
  const { type, namespace, name } = definition;
  const every = {
    namespace,
    name,
    model: await values.text(definition.model),
    properties: await values.record(
      definition.properties,
      (key) => `failed to resolve ${providers[type]} property ${key}`,
    ),
  };

  if (definition.type !== 'bedrock') {
    return {
      ...every,
      type: definition.type,
      baseUrl: await values.text(definition.baseUrl),
      apiKey: await values.text(definition.apiKey),
      ...(definition.apiVersion && { apiVersion: await values.text(definition.apiVersion) }),
    };
  }
  const optional = async <K extends string>(field: K, value: Value | undefined) => {
    const text = value && (await unlessUnreadable(values.text(value)));
    return (text === undefined ? {} : { [field]: text }) as { readonly [_ in K]?: string };
  };
  const { region, accessKeyId, secretAccessKey, sessionToken, modelArn, maxTokens, temperature } = definition;
  return {
    ...every,
    type: 'bedrock',
    ...(await optional('region', region)),
    ...(await optional('accessKeyId', accessKeyId)),
    ...(await optional('secretAccessKey', secretAccessKey)),
    ...(await optional('sessionToken', sessionToken)),
    ...(await optional('modelArn', modelArn)),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
  };
}

/** ARK does without what it cannot read of them (contract section 4.5); what may yet be read is waited for. */
async function unlessUnreadable(reading: Promise<string>): Promise<string | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof CallFailure && !failures[error.type].retryable) return undefined;
    throw error;
  }
}
