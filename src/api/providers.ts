/** What providers of models are called in messages. */
export const providers = { openai: 'OpenAI', azure: 'Azure', bedrock: 'Bedrock' } as const;
export type Provider = keyof typeof providers;
