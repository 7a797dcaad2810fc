import type { EvaluatorCall } from '../api/evaluation-run.ts';
import type { FailureType } from '../api/failures.ts';
import type { EvaluatorReply } from '../api/run.ts';
import type { Value } from '../api/snapshot.ts';
import { asStep, type Step } from './context.ts';
import type { Effects } from './effects.ts';
import { CallFailure, during, isRemoteError } from './failures.ts';
import type { Ports, RemoteError } from './ports.ts';
import { createValues, type Values } from './values.ts';

/** Asks an evaluator once. Temporal does the repeating; a failure says whether repeating could help. */
export const evaluate =
  ({ ports }: Pick<Effects, 'ports'>) =>
  (call: EvaluatorCall): Promise<EvaluatorReply> =>
    asStep((step) => askEvaluator(ports, step, call));

/** As `evaluate`, within a step that has begun. */
export async function askEvaluator(
  ports: Ports,
  step: Step,
  { address, access, request, parameters = {}, timeoutMs }: EvaluatorCall,
): Promise<EvaluatorReply> {
  const values = createValues(ports, access, step);
  const at = await during('failed to resolve evaluator address', () => values.text(address));
  const read = await readable(values, parameters);
  const body = { ...request, ...(read && { parameters: { ...(request['parameters'] as object), ...read } }) };
  try {
    return await ports.evaluators.evaluate(at, body, {
      signal: step.signal,
      // Whoever re-runs an evaluation wants a new judgement.
      idempotencyKey: step.keys.model,
      timeoutMs: Math.min(timeoutMs, step.timeLeftMs()),
    });
  } catch (error) {
    throw isRemoteError(error) ? new CallFailure(failureType(error), error.message, error) : error;
  }
}

/** The parameters that have a value; undefined where there are none at all. */
async function readable(
  values: Values,
  parameters: Readonly<Record<string, Value>>,
): Promise<Readonly<Record<string, string>> | undefined> {
  const read = await Promise.all(
    Object.entries(parameters).map(async ([name, value]) => {
      try {
        return [[name, await values.text(value)]];
      } catch (error) {
        if (error instanceof CallFailure && unreadable.has(error.type)) return [];
        throw error;
      }
    }),
  );
  return read.length > 0 ? (Object.fromEntries(read.flat()) as Record<string, string>) : undefined;
}

const unreadable: ReadonlySet<FailureType> = new Set(['SecretUnavailable', 'AccessDenied']);

/** A judgement has no side effects that we know of: what may pass is asked again. */
function failureType({ kind, status = 0 }: RemoteError): FailureType {
  switch (kind) {
    case 'network':
    case 'timeout':
      return 'EvaluatorUnavailable';
    case 'status':
      return status === 408 || status === 429 || status >= 500 ? 'EvaluatorUnavailable' : 'EvaluatorRejected';
    case 'template':
    case 'too-large':
    case 'protocol':
    case 'refused':
      return 'EvaluatorRejected';
  }
}
