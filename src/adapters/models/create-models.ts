import type { ModelPort } from '../../activities/ports.ts';
import { createBedrock } from './bedrock.ts';
import { createOpenAiChat } from './openai-chat.ts';

/** Every provider a Model can name. What a provider answers or refuses comes back in our words (`ModelError`). */
export function createModels(): ModelPort {
  const openAiChat = createOpenAiChat();
  const bedrock = createBedrock();

  return {
    complete(request, options) {
      const { endpoint } = request;
      switch (endpoint.type) {
        case 'openai':
        case 'azure':
          return openAiChat.complete({ ...request, endpoint }, options);
        case 'bedrock':
          return bedrock.complete({ ...request, endpoint }, options);
      }
    },
  };
}
