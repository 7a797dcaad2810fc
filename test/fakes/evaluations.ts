import type { EvaluationRunInput } from '../../src/api/evaluation-run.ts';
import type { EvaluatorReply, Failure } from '../../src/api/run.ts';
import type {
  EvaluationPorts,
  EvaluationRun,
  JudgedQuery,
  NewEvaluation,
  SeenEvaluation,
  SeenEvaluator,
} from '../../src/controller/evaluations/ports.ts';
import type { ObjectKey } from '../../src/controller/ports.ts';
import { Unbuildable } from '../../src/controller/snapshot/unbuildable.ts';

export const created = new Date('2026-11-21T12:00:00.000Z');

const keyText = ({ namespace, name }: ObjectKey) => `${namespace}/${name}`;

/** A cluster with Evaluations, and a Temporal, in memory. Runs stay open until `close`. */
export class EvaluationWorld {
  now = created;
  readonly evaluations = new Map<string, SeenEvaluation>();
  readonly evaluators = new Map<string, SeenEvaluator>();
  readonly queries = new Map<string, JudgedQuery>();
  readonly models = new Set<string>();
  readonly configMaps = new Map<string, Readonly<Record<string, string>>>();
  /** What was started, by the Evaluation's uid. */
  readonly started = new Map<string, EvaluationRunInput>();
  readonly runs = new Map<string, EvaluationRun>();
  readonly canceled: string[] = [];
  /** The next start is carried out, and its reply is lost. */
  losesStart = false;
  private readonly parents = new Map<string, string>();
  private readonly gone: SeenEvaluation[] = [];
  private uids = 0;

  add(name: string, spec: unknown, more: Partial<SeenEvaluation> = {}): SeenEvaluation {
    const evaluation: SeenEvaluation = {
      namespace: 'default',
      name,
      uid: `uid-${++this.uids}`,
      createdAt: this.now,
      isDeleted: false,
      labels: {},
      annotations: {},
      spec,
      status: {},
      ...more,
    };
    this.evaluations.set(keyText(evaluation), evaluation);
    return evaluation;
  }

  evaluator(name: string, more: Partial<SeenEvaluator> = {}): void {
    const evaluator = {
      namespace: 'default',
      name,
      spec: { address: { value: `http://${name}/evaluate` } },
      status: { phase: 'ready', lastResolvedAddress: `http://${name}/evaluate` },
      ...more,
    } as SeenEvaluator;
    this.evaluators.set(keyText(evaluator), evaluator);
  }

  query(name: string, phase: string, more: Partial<JudgedQuery> = {}): void {
    const query = {
      namespace: 'default',
      name,
      uid: `q-${name}`,
      generation: 1,
      labels: {},
      phase,
      isDeleted: false,
    };
    this.queries.set(keyText(query), { ...query, ...more });
  }

  get(name: string): SeenEvaluation {
    const evaluation = this.evaluations.get(`default/${name}`);
    if (!evaluation) throw new Error(`there is no Evaluation ${name}`);
    return evaluation;
  }

  /** The user deletes it; there is no finalizer. */
  vanish(name: string): void {
    this.gone.push(this.get(name));
    this.evaluations.delete(`default/${name}`);
  }

  close(name: string, end: EvaluatorReply | Failure, afterMs = 1_500): void {
    const { uid } = this.get(name);
    this.runs.set(uid, {
      state: 'closed',
      startedAt: this.now,
      closedAt: new Date(this.now.getTime() + afterMs),
      end,
    });
  }

  later(ms: number): this {
    this.now = new Date(this.now.getTime() + ms);
    return this;
  }

  private change(evaluation: SeenEvaluation, change: Partial<SeenEvaluation>): void {
    const now = this.evaluations.get(keyText(evaluation));
    if (now?.uid === evaluation.uid) this.evaluations.set(keyText(evaluation), { ...now, ...change });
  }

  readonly ports: EvaluationPorts = {
    now: () => this.now,
    evaluator: (key) => this.evaluators.get(keyText(key)),
    evaluatorsIn: (namespace) => [...this.evaluators.values()].filter((one) => one.namespace === namespace),
    query: (key) => this.queries.get(keyText(key)),
    hasModel: (key) => this.models.has(keyText(key)),
    readAs: () => ({
      get: () => Promise.reject(new Error('not asked for')),
      list: () => Promise.reject(new Error('not asked for')),
      servicePorts: () => Promise.reject(new Error('not asked for')),
      configMap: async (key) => {
        const data = this.configMaps.get(keyText(key));
        if (!data)
          throw new Unbuildable('ValueInvalid', `configmaps "${key.name}" not found`, { missing: true });
        return data;
      },
    }),
    evaluations: {
      get: (key) => this.evaluations.get(keyText(key)),
      childrenOf: ({ uid }) =>
        [...this.evaluations.values()].filter((one) => this.parents.get(one.uid) === uid),
      vanished: (key) => this.gone.filter((one) => keyText(one) === keyText(key)),
      forgetVanished: (one) => void this.gone.splice(this.gone.indexOf(one), 1),
      create: async ({ parent, namespace, name, labels, annotations = {}, spec }: NewEvaluation) => {
        if (this.evaluations.has(keyText({ namespace, name }))) return;
        const evaluation = this.add(name, spec, { namespace, labels, annotations });
        if (parent) this.parents.set(evaluation.uid, parent.uid);
      },
      remove: async (evaluation) => {
        if (this.evaluations.get(keyText(evaluation))?.uid !== evaluation.uid) return;
        this.gone.push(evaluation);
        this.evaluations.delete(keyText(evaluation));
      },
      annotate: async (evaluation, annotations) => {
        const now = this.evaluations.get(keyText(evaluation))?.annotations;
        this.change(evaluation, { annotations: { ...now, ...annotations } });
      },
      writeStatus: async (evaluation, status) => this.change(evaluation, { status }),
    },
    runs: {
      look: async ({ uid }) => this.runs.get(uid) ?? { state: 'absent' },
      start: async ({ uid }, input) => {
        const known = this.runs.get(uid);
        if (known) return known;
        this.started.set(uid, input);
        const run: EvaluationRun = { state: 'open', startedAt: this.now };
        this.runs.set(uid, run);
        if (this.losesStart) {
          this.losesStart = false;
          throw new Error('the reply was lost');
        }
        return run;
      },
      cancel: async ({ uid }) => void this.canceled.push(uid),
    },
  };
}
