/** The parts of Kubernetes' own objects that this project reads or writes. Types, and the names derived from them. */

/** One row of the table of kinds; `group` is empty for Kubernetes' core kinds. */
export interface ResourceKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly unknown[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface KubernetesObject<Spec = unknown, Status = unknown> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: Spec;
  readonly status?: Status;
}

/** What a creator writes; the server fills in the rest of the metadata. */
export type NewObject<T extends KubernetesObject> = Omit<T, 'metadata'> & {
  readonly metadata: Partial<ObjectMeta> & ({ readonly name: string } | { readonly generateName: string });
};

/** Where an object is; `namespace` is empty for kinds that have none. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

export const apiVersionOf = ({ group, version }: ResourceKind): string =>
  group === '' ? version : `${group}/${version}`;

export const keyOf = ({ metadata }: KubernetesObject): ObjectKey => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
});

/** `namespace/name`; one string for one object, as queues and maps need it. */
export const keyText = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** Whether `a` is later than `b`: resourceVersions of one kind are growing decimal numbers (KEP-5504). */
export const isNewer = (a: string, b: string): boolean =>
  a.length === b.length ? a > b : a.length > b.length;
