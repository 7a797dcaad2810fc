import type { ModelDefinition } from '../api/snapshot.ts';
import { during } from './failures.ts';
import type { ModelEndpoint } from './ports.ts';
import type { Values } from './values.ts';

/** A model with its values in clear, ready to be asked (contract section 4.5). */
export async function endpointOf(model: ModelDefinition, values: Values): Promise<ModelEndpoint> {
  const { type, namespace, name } = model;
  const provider = { openai: 'OpenAI', azure: 'Azure OpenAI' }[type];

  return during(`failed to load model ${namespace}/${name}`, async () => ({
    type,
    namespace,
    name,
    model: await values.text(model.model),
    baseUrl: await values.text(model.baseUrl),
    apiKey: await values.text(model.apiKey),
    ...(model.apiVersion && { apiVersion: await values.text(model.apiVersion) }),
    properties: await values.record(
      model.properties,
      (key) => `failed to resolve ${provider} property ${key}`,
    ),
  }));
}
