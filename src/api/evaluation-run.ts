/** What goes into the workflow of an Evaluation, and into the call that asks an evaluator. Types only. */
import type { EvaluatorReply } from './run.ts';
import type { Access, Value } from './snapshot.ts';

/** Asks an evaluator once. */
export interface EvaluatorCall {
  readonly address: Value;
  readonly access: Access;
  /** With whose rights the address is read; those of `access` if absent. */
  readonly addressAccess?: Access;
  /** Sent as JSON. */
  readonly request: Readonly<Record<string, unknown>>;
  /**
   * Put into the request's `parameters`, over what is there. One whose Secret cannot be read is left out, as ARK does
   * it (contract section 7.3).
   */
  readonly parameters?: Readonly<Record<string, Value>>;
  /** For one attempt. */
  readonly timeoutMs: number;
}

export interface EvaluationRunInput {
  /** The evaluator's name, as people read it in the Web UI. */
  readonly evaluator: string;
  readonly call: EvaluatorCall;
  /** `spec.timeout`: for all attempts together. */
  readonly timeoutMs: number;
}

/** The result of the workflow; it fails by the name of what went wrong. */
export type EvaluationRunResult = EvaluatorReply;
