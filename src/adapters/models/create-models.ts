import type { ModelPort } from '../../activities/ports.ts';
import { createOpenAiChat } from './openai-chat.ts';

/** Every provider a Model can name. What a provider answers or refuses comes back in our words (`ModelError`). */
export function createModels(): ModelPort {
  const openAiChat = createOpenAiChat();

  return {
    complete(request, options) {
      switch (request.endpoint.type) {
        case 'openai':
        case 'azure':
          return openAiChat.complete(request, options);
      }
    },
  };
}
