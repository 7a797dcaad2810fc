import type { EvaluatorCall } from '../api/evaluation-run.ts';
import type { FailureType } from '../api/failures.ts';
import type { EvaluatorReply } from '../api/run.ts';
import type { Value } from '../api/snapshot.ts';
import { asStep, type Step } from './context.ts';
import type { Effects } from './effects.ts';
import { CallFailure, during, isRemoteError, remoteFailure } from './failures.ts';
import type { Ports } from './ports.ts';
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
  { address, access, addressAccess = access, request, parameters = {}, timeoutMs }: EvaluatorCall,
): Promise<EvaluatorReply> {
  const values = createValues(ports, access, step);
  const at = await during('failed to resolve evaluator address', () =>
    createValues(ports, addressAccess, step).text(address),
  );
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
    throw isRemoteError(error)
      ? remoteFailure(error, { unavailable: 'EvaluatorUnavailable', rejected: 'EvaluatorRejected' })
      : error;
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
