import type { EvaluationStatus } from '../../api/evaluation.ts';
import type { EvaluationRunInput } from '../../api/evaluation-run.ts';
import type { EvaluatorStatus } from '../../api/evaluator.ts';
import type { EvaluatorReply, Failure } from '../../api/run.ts';
import type { ObjectKey } from '../ports.ts';
import type { Definitions } from '../snapshot/definitions.ts';

/** What reconciling an Evaluation needs from the world. */
export interface EvaluationPorts {
  readonly now: () => Date;
  readonly evaluations: Evaluations;
  readonly runs: EvaluationRuns;
  evaluator(key: ObjectKey): SeenEvaluator | undefined;
  evaluatorsIn(namespace: string): readonly SeenEvaluator[];
  query(key: ObjectKey): JudgedQuery | undefined;
  hasModel(key: ObjectKey): boolean;
  /** Reads with the rights of the namespace's default service account. */
  readAs(namespace: string): Definitions;
}

/** An Evaluation as last seen, with the controller's own later writes. */
export interface SeenEvaluation extends ObjectKey {
  readonly uid: string;
  readonly createdAt: Date;
  readonly isDeleted: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** As written by the user, perhaps before a rule existed that forbids it. */
  readonly spec: unknown;
  readonly status: Partial<EvaluationStatus>;
}

/** One to be made by the controller. */
export interface NewEvaluation extends ObjectKey {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Goes away with it. */
  readonly parent?: SeenEvaluation;
  readonly spec: object;
}

export interface Evaluations {
  get(key: ObjectKey): SeenEvaluation | undefined;
  /** Those whose controller is this one. */
  childrenOf(parent: SeenEvaluation): readonly SeenEvaluation[];
  /** Objects of this name that went away. */
  vanished(key: ObjectKey): readonly SeenEvaluation[];
  forgetVanished(evaluation: SeenEvaluation): void;
  /** Nothing to do where an object of this name exists. */
  create(evaluation: NewEvaluation): Promise<void>;
  /** Asks to delete this very object (by uid); nothing to do where it is gone. */
  remove(evaluation: SeenEvaluation): Promise<void>;
  /** Adds annotations to this very object; nothing to do where it is gone. */
  annotate(evaluation: SeenEvaluation, annotations: Readonly<Record<string, string>>): Promise<void>;
  /** Makes status say this; no call where it already does. */
  writeStatus(evaluation: SeenEvaluation, status: EvaluationStatus): Promise<void>;
}

export interface SeenEvaluator extends ObjectKey {
  readonly spec: unknown;
  readonly status: Partial<EvaluatorStatus>;
}

/** A Query, as far as its judges need to know. */
export interface JudgedQuery extends ObjectKey {
  readonly uid: string;
  readonly generation: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: string;
  readonly isDeleted: boolean;
}

/** The run of an Evaluation is found by its Evaluation: the workflow's id is made of namespace, name and uid. */
export type EvaluationOwner = Pick<SeenEvaluation, 'namespace' | 'name' | 'uid'>;

export type EvaluationRun =
  | { readonly state: 'absent' }
  | { readonly state: 'open'; readonly startedAt: Date }
  | {
      readonly state: 'closed';
      readonly startedAt: Date;
      readonly closedAt: Date;
      readonly end: EvaluatorReply | Failure;
    };

export interface EvaluationRuns {
  /** Starts the run, or finds the one that was started before, open or closed. */
  start(evaluation: EvaluationOwner, input: EvaluationRunInput): Promise<EvaluationRun>;
  look(evaluation: EvaluationOwner): Promise<EvaluationRun>;
  /** Asking twice is asking once; a closed or unknown run stays as it is. */
  cancel(evaluation: EvaluationOwner): Promise<void>;
}
