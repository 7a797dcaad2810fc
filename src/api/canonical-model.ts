import { sourceOf, sourceProblem, type Source } from './canonical-values.ts';
import { ModelSpec } from './model.ts';
import { providers } from './providers.ts';
import { isInvalid, problemsAmong, readSpec, type Invalid } from './problems.ts';
import type { ValueSource } from './values.ts';

type Properties = Readonly<Record<string, Source>>;

interface EveryModel {
  /** The provider's name of the model or deployment. */
  readonly model: Source;
  readonly properties: Properties;
}

export type CanonicalModel = EveryModel &
  (
    | { readonly type: 'openai'; readonly baseUrl: Source; readonly apiKey: Source }
    | {
        readonly type: 'azure';
        readonly baseUrl: Source;
        readonly apiKey: Source;
        readonly apiVersion?: Source | undefined;
      }
    | {
        readonly type: 'bedrock';
        readonly region?: Source | undefined;
        readonly accessKeyId?: Source | undefined;
        readonly secretAccessKey?: Source | undefined;
        readonly sessionToken?: Source | undefined;
        readonly modelArn?: Source | undefined;
        readonly maxTokens?: number | undefined;
        readonly temperature?: string | undefined;
      }
  );

/** A Model's spec with every value traced to its source, or what is wrong with it. */
export function canonicalModel(written: unknown): CanonicalModel | Invalid {
  const spec = readSpec(ModelSpec, written);
  if (isInvalid(spec)) return spec;

  const problems = [...modelProblems(spec), ...valueProblems(spec)];
  if (problems.length > 0) return { problems };

  const { openai, azure, bedrock } = spec.config;
  const every = { model: sourceOf(spec.model), properties: propertiesOf(spec) };
  if (spec.type === 'openai' && openai) {
    return { ...every, type: 'openai', baseUrl: sourceOf(openai.baseUrl), apiKey: sourceOf(openai.apiKey) };
  }
  if (spec.type === 'azure' && azure) {
    return {
      ...every,
      type: 'azure',
      baseUrl: sourceOf(azure.baseUrl),
      apiKey: sourceOf(azure.apiKey),
      apiVersion: optionalSource(azure.apiVersion),
    };
  }
  return {
    ...every,
    type: 'bedrock',
    region: optionalSource(bedrock?.region),
    accessKeyId: optionalSource(bedrock?.accessKeyId),
    secretAccessKey: optionalSource(bedrock?.secretAccessKey),
    sessionToken: optionalSource(bedrock?.sessionToken),
    modelArn: optionalSource(bedrock?.modelArn),
    maxTokens: bedrock?.maxTokens,
    temperature: bedrock?.temperature,
  };
}

/** What one Model can tell about itself at admission (contract 2.6). */
export function modelProblems({ type, config }: ModelSpec): readonly string[] {
  if (!config[type]) return [`${type} configuration is required for ${type} model type`];
  const provider = type === 'bedrock' ? undefined : config[type];
  const unresolved = provider && sourceProblem(provider.baseUrl);
  return problemsAmong(unresolved && `failed to resolve ${providers[type]} BaseURL: ${unresolved}`);
}

/** What ARK's admission lets pass and its first call then fails on: required values and properties without any value. */
function valueProblems(spec: ModelSpec): readonly string[] {
  const { type, config } = spec;
  const provider = type === 'bedrock' ? undefined : config[type];
  return problemsAmong(
    valueProblem('spec.model', spec.model),
    valueProblem(`spec.config.${type}.apiKey`, provider?.apiKey),
    ...Object.entries(config[type]?.properties ?? {}).map(([name, source]) =>
      valueProblem(`failed to resolve ${providers[type]} property ${name}`, source),
    ),
  );
}

function valueProblem(start: string, source: ValueSource | undefined): string | undefined {
  const problem = source && sourceProblem(source);
  return problem && `${start}: ${problem}`;
}

const propertiesOf = ({ type, config }: ModelSpec): Properties =>
  Object.fromEntries(
    Object.entries(config[type]?.properties ?? {}).map(([name, source]) => [name, sourceOf(source)]),
  );

/** An optional value that is written but empty counts as absent: ARK swallows such errors (contract 4.5). */
const optionalSource = (source: ValueSource | undefined): Source | undefined =>
  source && !sourceProblem(source) ? sourceOf(source) : undefined;
