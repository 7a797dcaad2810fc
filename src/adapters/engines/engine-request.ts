import type { EngineRequest, ModelEndpoint } from '../../activities/ports.ts';

/** What an engine is posted (contract section 4.14): ARK's field names, and no field that would be empty where ARK has none. */
export function engineBody({ agent, model, userInput, history, tools }: EngineRequest) {
  const { name, namespace, prompt, description, parameters, outputSchema } = agent;
  return {
    agent: {
      name,
      namespace,
      prompt,
      description,
      ...(parameters.length > 0 && { parameters }),
      model: { name: model.model, type: model.type, config: configOf(model) },
      ...(outputSchema && { outputSchema }),
    },
    userInput: { role: 'user', content: userInput },
    history: history.map(({ role, content }) => ({ role, content })),
    ...(tools.length > 0 && { tools: tools.map(toolFace) }),
  };
}

const toolFace = ({ name, description, parameters }: EngineRequest['tools'][number]) => ({
  name,
  description,
  parameters,
});

function configOf(model: ModelEndpoint): object {
  switch (model.type) {
    case 'openai':
      return { openai: { baseUrl: model.baseUrl, apiKey: model.apiKey } };
    case 'azure': {
      const { baseUrl, apiKey, apiVersion } = model;
      return { azure: { baseUrl, ...(apiVersion !== undefined && { apiVersion }), apiKey } };
    }
    case 'bedrock': {
      const { region, accessKeyId, secretAccessKey, sessionToken, modelArn, properties } = model;
      return { bedrock: { region, accessKeyId, secretAccessKey, sessionToken, modelArn, ...properties } };
    }
  }
}
