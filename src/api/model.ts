/** A Model: a provider's model and how to reach it (contract 1.5). */
import { z } from 'zod';
import { providers, type Provider } from './providers.ts';
import { hasSource, rules, type Rule } from './rules.ts';
import { Time, ValueSource } from './values.ts';

const properties = z
  .record(z.string(), ValueSource)
  .optional()
  .describe('Further fields of the request, such as temperature.');

const OpenAIConfig = z.object({ baseUrl: ValueSource, apiKey: ValueSource, properties });

const AzureConfig = z.object({
  baseUrl: ValueSource,
  apiKey: ValueSource,
  apiVersion: ValueSource.optional(),
  properties,
});

const BedrockConfig = z.object({
  region: ValueSource.optional(),
  accessKeyId: ValueSource.optional(),
  secretAccessKey: ValueSource.optional(),
  sessionToken: ValueSource.optional(),
  modelArn: ValueSource.optional(),
  maxTokens: z.int().min(1).max(100_000).optional(),
  temperature: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .optional(),
  properties,
});

/** Contract 2.6: the provider's block is there, and its base URL has some value. */
function providerRules(provider: Provider): readonly Rule[] {
  const isPresent = {
    rule: `self.type != '${provider}' || has(self.config.${provider})`,
    message: `${provider} configuration is required for ${provider} model type`,
  };
  if (provider === 'bedrock') return [isPresent];

  const doesNotApply = `self.type != '${provider}' || !has(self.config.${provider})`;
  return [
    isPresent,
    ...hasSource(
      `self.config.${provider}.baseUrl`,
      `failed to resolve ${providers[provider]} BaseURL`,
      doesNotApply,
    ),
  ];
}

export const ModelSpec = z
  .object({
    type: z
      .enum(['openai', 'azure', 'bedrock'])
      .describe('Whose protocol is spoken; any OpenAI-compatible server is openai.'),
    model: ValueSource.describe("The provider's name of the model or deployment."),
    config: z.object({
      openai: OpenAIConfig.optional(),
      azure: AzureConfig.optional(),
      bedrock: BedrockConfig.optional(),
    }),
  })
  .meta(rules(...providerRules('openai'), ...providerRules('azure'), ...providerRules('bedrock')));
export type ModelSpec = z.infer<typeof ModelSpec>;

export const ModelStatus = z.object({
  phase: z.enum(['running', 'ready', 'error']).optional(),
  message: z.string().optional(),
  resolvedAddress: z.string().optional(),
  probe: z
    .object({
      hash: z
        .string()
        .optional()
        .describe('Names what was asked: another spec or another Secret is another one.'),
      time: Time.optional(),
      failures: z.int().optional().describe('In a row; each doubles the wait for the next probe.'),
    })
    .optional()
    .describe('The last time the model was asked whether it answers.'),
});
export type ModelStatus = z.infer<typeof ModelStatus>;
