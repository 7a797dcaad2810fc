import { modelProblems } from '../../api/canonical-model.ts';
import { sourceOf } from '../../api/canonical-values.ts';
import { ModelSpec } from '../../api/model.ts';
import { providers } from '../../api/providers.ts';
import { isInvalid, readSpec } from '../../api/problems.ts';
import type { ValueSource } from '../../api/values.ts';
import { keyAbsence, unresolved } from './absence.ts';
import type { Reader, Reviewed } from './ports.ts';
import { inArkWords } from './schema-words.ts';

/** Contract 2.6. Properties are not looked at, as in ARK. */
export async function* admitModel(
  { namespace, spec: written }: Reviewed,
  read: Reader,
): AsyncGenerator<string, void, undefined> {
  const spec = readSpec(ModelSpec, written);
  if (isInvalid(spec)) return yield* inArkWords('Model', spec, written);

  for (const [path, source] of valuesOf(spec)) {
    const absent = await keyAbsence(read, sourceOf(source), namespace);
    if (absent) yield `${path}: ${absent}`;
  }
  yield* modelProblems(spec);

  const { type, config } = spec;
  const baseUrl = type === 'bedrock' ? undefined : config[type]?.baseUrl;
  const why = baseUrl && (await unresolved(read, sourceOf(baseUrl), namespace));
  if (why) yield `failed to resolve ${providers[type]} BaseURL: ${why}`;
}

/** What a Secret or ConfigMap may hold, in the order of the fields, with the path of each. */
function valuesOf({ type, model, config }: ModelSpec): readonly (readonly [string, ValueSource])[] {
  const fields =
    type === 'bedrock'
      ? (['region', 'accessKeyId', 'secretAccessKey', 'sessionToken', 'modelArn'] as const)
      : (['baseUrl', 'apiKey', 'apiVersion'] as const);
  const block: Readonly<Record<string, unknown>> = config[type] ?? {};
  return [
    ['spec.model', model] as const,
    ...fields.flatMap((field) => {
      const source = block[field] as ValueSource | undefined;
      return source ? [[`spec.config.${type}.${field}`, source] as const] : [];
    }),
  ];
}
