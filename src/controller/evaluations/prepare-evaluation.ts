import { canonicalEvaluator } from '../../api/canonical-evaluator.ts';
import type { CanonicalEvaluation } from '../../api/canonical-evaluation.ts';
import type { NamedSource } from '../../api/canonical-values.ts';
import type { EvaluationRunInput } from '../../api/evaluation-run.ts';
import { isInvalid } from '../../api/problems.ts';
import type { Value } from '../../api/snapshot.ts';
import { resolveParameter } from '../snapshot/resolve-values.ts';
import { Unbuildable } from '../snapshot/unbuildable.ts';
import type { EvaluationPorts, SeenEvaluation, SeenEvaluator } from './ports.ts';

/** One attempt; contract section 7.3. */
const attemptMs = { baseline: 120_000, others: 30_000 } as const;

/** `waits` says that time may heal it: soon, or as long as a Query takes. */
export type Prepared =
  { readonly input: EvaluationRunInput } | { readonly message: string; readonly waits?: 'shortly' | 'long' };

/** What the evaluator is to be asked, or why that cannot be said (yet), in the words of contract section 7.3. */
export async function prepareEvaluation(
  evaluation: SeenEvaluation,
  spec: CanonicalEvaluation,
  ports: EvaluationPorts,
): Promise<Prepared> {
  const evaluator = readyEvaluator(evaluation, spec, ports);
  if ('message' in evaluator) return evaluator;
  const unready = queryProblem(evaluation, spec, ports);
  if (unready) return unready;

  const own = await ownParameters(evaluation, spec, ports);
  const given = { ...literals(evaluatorParameters(evaluator)), ...own };
  const parameters = { ...given, ...parametersByType(evaluation, spec, given, ports) };
  return {
    input: {
      evaluator: evaluator.name,
      timeoutMs: spec.timeoutMs,
      call: {
        address: addressOf(evaluator),
        addressAccess: { namespace: evaluator.namespace, serviceAccount: 'default' },
        access: { namespace: evaluation.namespace, serviceAccount: 'default' },
        request: {
          type: spec.type,
          config: configOf(evaluation, spec),
          parameters: Object.fromEntries(
            Object.entries(parameters).flatMap(([name, value]) =>
              'value' in value ? [[name, value.value]] : [],
            ),
          ),
          evaluatorName: evaluator.name,
        },
        parameters: Object.fromEntries(Object.entries(parameters).filter(([, value]) => 'secret' in value)),
        timeoutMs: Math.min(spec.timeoutMs, spec.type === 'baseline' ? attemptMs.baseline : attemptMs.others),
      },
    },
  };
}

function readyEvaluator(
  { namespace: home }: SeenEvaluation,
  { evaluator }: CanonicalEvaluation,
  ports: EvaluationPorts,
): SeenEvaluator | Extract<Prepared, { message: string }> {
  if (!evaluator) return { message: 'Evaluator validation failed: no evaluator is named' };
  const { name, namespace = home } = evaluator;
  const found = ports.evaluator({ namespace, name });
  const failed = (problem: string) => ({
    message: `Evaluator validation failed: evaluator '${name}' ${problem}`,
    waits: 'shortly' as const,
  });
  if (!found) return failed(`not found in namespace '${namespace}'`);
  const { phase, lastResolvedAddress } = found.status;
  return phase === 'ready' && lastResolvedAddress
    ? found
    : failed(`is not ready (current phase: ${phase ?? ''})`);
}

/** ARK gives up at once on a Query that is still running; here it is waited for, as long as the Evaluation may take. */
function queryProblem(
  { namespace: home }: SeenEvaluation,
  { type, config }: CanonicalEvaluation,
  ports: EvaluationPorts,
): Extract<Prepared, { message: string }> | undefined {
  if (type !== 'query' || !config.queryRef) return undefined;
  const { name, namespace = home } = config.queryRef;
  const query = ports.query({ namespace, name });
  if (!query)
    return {
      message: `Failed to fetch Query: query '${name}' not found in namespace '${namespace}'`,
      waits: 'shortly',
    };
  if (query.phase === 'done') return undefined;
  const message = `Failed to fetch Query: query '${name}' is not complete (phase: ${query.phase})`;
  return query.phase === 'error' || query.phase === 'canceled' ? { message } : { message, waits: 'long' };
}

/** Status does not show an address that is kept in a Secret. */
function addressOf({ namespace, spec, status }: SeenEvaluator): Value {
  const evaluator = canonicalEvaluator(spec);
  if (!isInvalid(evaluator) && evaluator.address.from === 'secret') {
    const { name, key } = evaluator.address;
    return { secret: { namespace, name, key } };
  }
  return { value: status.lastResolvedAddress ?? '' };
}

type Values = Readonly<Record<string, Value>>;

function evaluatorParameters({ spec }: SeenEvaluator): readonly NamedSource[] {
  const canonical = canonicalEvaluator(spec);
  return isInvalid(canonical) ? [] : canonical.parameters;
}

const literals = (parameters: readonly NamedSource[]): Values =>
  Object.fromEntries(
    parameters.flatMap(({ name, source }) =>
      source.from === 'literal' ? [[name, { value: source.value }]] : [],
    ),
  );

/** Those whose ConfigMap cannot be read are left out, and an event has literals only, as in ARK. */
async function ownParameters(
  { namespace }: SeenEvaluation,
  { type, evaluator }: CanonicalEvaluation,
  ports: EvaluationPorts,
): Promise<Values> {
  const parameters = evaluator?.parameters ?? [];
  if (type === 'event') return literals(parameters);

  const read = ports.readAs(namespace);
  const resolved = await Promise.all(
    parameters.map(async ({ name, source }) => {
      try {
        return [[name, await resolveParameter(source, namespace, read, {})]];
      } catch (error) {
        if (error instanceof Unbuildable) return [];
        throw error;
      }
    }),
  );
  return Object.fromEntries(resolved.flat()) as Values;
}

function parametersByType(
  { namespace: home }: SeenEvaluation,
  { type, config }: CanonicalEvaluation,
  given: Values,
  ports: EvaluationPorts,
): Values {
  const { name = '', namespace = home } = config.queryRef ?? {};
  if (type === 'event') {
    return config.queryRef
      ? {
          'query.name': given['query.name'] ?? { value: name },
          'query.namespace': given['query.namespace'] ?? { value: namespace },
        }
      : {};
  }
  return {
    ...(type === 'query' && { queryRef: { value: `${namespace}/${name}` } }),
    'model.namespace': { value: modelNamespace(home, given, ports) },
  };
}

/** The one that is given counts only where the model that is given is there. */
function modelNamespace(home: string, given: Values, ports: EvaluationPorts): string {
  const namespace = textOf(given['model.namespace']);
  const name = textOf(given['model.name']);
  return namespace && name && ports.hasModel({ namespace, name }) ? namespace : home;
}

const textOf = (value: Value | undefined): string => (value && 'value' in value ? value.value : '');

function configOf({ namespace: home }: SeenEvaluation, { type, config }: CanonicalEvaluation): object {
  switch (type) {
    case 'direct':
      return { input: config.input, output: config.output };
    case 'query': {
      const { name, namespace = home, responseTarget } = config.queryRef ?? {};
      return { queryRef: { name, namespace, ...(responseTarget && { responseTarget }) } };
    }
    case 'event':
      return { rules: config.rules };
    case 'baseline':
    case 'batch':
      return {};
  }
}
