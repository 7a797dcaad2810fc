import { isConflict, isNotFound, KubernetesError } from '../../adapters/kubernetes/kubernetes-error.ts';
import type { ObjectView } from '../../adapters/kubernetes/object-store.ts';
import { keyOf } from '../../adapters/kubernetes/objects.ts';
import type { KubernetesObject } from '../../adapters/kubernetes/objects.ts';
import { withoutBookkeeping } from '../../adapters/kubernetes/reflector.ts';
import type { Resources } from '../../adapters/kubernetes/resources.ts';
import type { EvaluationStatus } from '../../api/evaluation.ts';
import { evaluationKind, group } from '../../api/kinds.ts';
import { mergePatch } from '../merge-patch.ts';
import type { Evaluations, SeenEvaluation } from './ports.ts';

export type EvaluationObject = KubernetesObject<unknown, Partial<EvaluationStatus>>;

/** The index under which a batch's children are found, by the batch's uid. */
export const parentIndex = 'parent';

const apiVersion = `${group}/${evaluationKind.version}`;

export const controllerOf = ({ metadata }: KubernetesObject) =>
  metadata.ownerReferences?.find(({ kind, controller }) => controller && kind === evaluationKind.kind);

/** Evaluations in the API server; objects that have gone meanwhile are nothing to write to, and no error. */
export function kubernetesEvaluations(
  resources: Resources<EvaluationObject>,
  view: ObjectView<EvaluationObject>,
): Evaluations {
  const absorb = (object: EvaluationObject): void => view.absorb(withoutBookkeeping(object));
  const isThis = ({ namespace, name, uid }: SeenEvaluation): boolean =>
    view.get({ namespace, name })?.metadata.uid === uid;

  return {
    get(key) {
      const object = view.get(key);
      return object && seen(object);
    },
    childrenOf: ({ uid }) => view.byIndex(parentIndex, uid).map(seen),
    vanished: (key) => view.vanished(key).map(seen),
    forgetVanished({ uid, ...key }) {
      for (const object of view.vanished(key)) if (object.metadata.uid === uid) view.forgetVanished(object);
    },

    async create({ namespace, name, labels, annotations, parent, spec }) {
      const ownerReferences = parent && [
        {
          apiVersion,
          kind: evaluationKind.kind,
          name: parent.name,
          uid: parent.uid,
          controller: true,
          blockOwnerDeletion: false,
        },
      ];
      const metadata = {
        namespace,
        name,
        labels,
        ...(annotations && { annotations }),
        ...(ownerReferences && { ownerReferences }),
      };
      await resources.create({ metadata, spec }).catch((error: unknown) => {
        if (!(error instanceof KubernetesError) || error.reason !== 'AlreadyExists') throw error;
      });
    },

    async remove({ namespace, name, uid }) {
      await resources.remove({ namespace, name }, { uid, propagation: 'Background' }).catch(nothingIfOther);
    },

    async annotate(evaluation, annotations) {
      if (!isThis(evaluation) || Object.keys(annotations).length === 0) return;
      const { uid } = evaluation;
      const written = await resources
        .mergePatch(keyOnly(evaluation), { metadata: { uid, annotations } })
        .catch(nothingIfOther);
      if (written) absorb(written);
    },

    async writeStatus(evaluation, status) {
      const known = view.get(keyOnly(evaluation));
      if (!known || !isThis(evaluation)) return;
      const patch = mergePatch(known.status ?? {}, JSON.parse(JSON.stringify(status)) as object);
      if (!patch) return;
      const written = await resources.mergePatchStatus(keyOf(known), patch).catch(nothingIfOther);
      if (written) absorb(written);
    },
  };
}

const keyOnly = ({ namespace, name }: SeenEvaluation) => ({ namespace, name });

/** A conflict says that an object of this name is there, and is another one. */
function nothingIfOther(error: unknown): undefined {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}

function seen({ metadata, spec, status = {} }: EvaluationObject): SeenEvaluation {
  const {
    namespace = '',
    name,
    uid,
    creationTimestamp,
    deletionTimestamp,
    labels = {},
    annotations = {},
  } = metadata;
  return {
    namespace,
    name,
    uid,
    createdAt: new Date(creationTimestamp),
    isDeleted: deletionTimestamp !== undefined,
    labels,
    annotations,
    spec,
    status,
  };
}
