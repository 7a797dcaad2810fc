import type { CallOptions, KubernetesConnection } from './connection.ts';
import { isExpired } from './kubernetes-error.ts';
import { apiVersionOf, keyText } from './objects.ts';
import type { KubernetesObject, NewObject, ObjectKey, ResourceKind } from './objects.ts';

/** One kind of object, spoken to in its own words. Every call rejects with a `KubernetesError`. */
export interface Resources<T extends KubernetesObject> {
  readonly kind: ResourceKind;
  readonly connection: KubernetesConnection;
  get(key: ObjectKey, options?: Acting): Promise<T>;
  /** Page by page, all of one moment: `resourceVersion` is the same on every page, and a watch continues from it. */
  pages(scope?: ListScope): AsyncGenerator<Page<T>, void, undefined>;
  list(scope?: ListScope): Promise<Page<T>>;
  create(object: NewObject<T>, options?: Acting): Promise<T>;
  /** JSON merge patch (RFC 7386) of metadata and spec. */
  mergePatch(key: ObjectKey, patch: object, options?: Acting): Promise<T>;
  /** JSON merge patch whose root is the status: `{ phase: 'done' }`. */
  mergePatchStatus(key: ObjectKey, status: object, options?: Acting): Promise<T>;
  /** Server-side apply of a whole status as `fieldManager`; takes fields over from other managers. */
  applyStatus(
    key: ObjectKey,
    status: object,
    options: Acting & { readonly fieldManager: string },
  ): Promise<T>;
  /** Replaces the object, if its resourceVersion is still the given one; otherwise rejects with `Conflict`. */
  replace(object: T, options?: Acting): Promise<T>;
  /** Asks to delete it, if it is still the given one. Resolves also while finalizers hold it. */
  remove(key: ObjectKey, options?: Acting & RemoveOptions): Promise<void>;
}

export type Acting = Pick<CallOptions, 'impersonate' | 'signal'> & {
  /** Attempts in all; a caller with a deadline of its own sets 1. */
  readonly attemptsMax?: number;
};

export interface ListScope extends Acting {
  /** Empty or absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

export interface RemoveOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

const pageSize = 500;
/** A list whose page tokens expired on the way (the server keeps history for minutes) begins again this often. */
const listAttemptsMax = 3;

const mergePatchType = 'application/merge-patch+json';
const applyPatchType = 'application/apply-patch+yaml';

/** Typed access to one kind; which group, version and plural is data, so every kind has the same few functions. */
export function createResources<T extends KubernetesObject>(
  connection: KubernetesConnection,
  kind: ResourceKind,
): Resources<T> {
  const { plural } = kind;
  const apiVersion = apiVersionOf(kind);

  const patch = (
    key: ObjectKey,
    verb: string,
    contentType: string,
    body: object,
    options: PatchOptions = {},
  ) =>
    connection.request<T>('PATCH', pathOf(kind, key) + (options.subresource ?? ''), {
      what: `${verb} ${plural} ${keyText(key)}`,
      contentType,
      body,
      ...options,
    });

  async function* pages(scope: ListScope = {}): AsyncGenerator<Page<T>, void, undefined> {
    let token: string | undefined;
    do {
      const page: ListBody<T> = await connection.request<ListBody<T>>(
        'GET',
        collectionPath(kind, scope.namespace),
        {
          what: `list ${plural}${scope.namespace ? ` of ${scope.namespace}` : ''}`,
          query: { limit: pageSize, continue: token, ...selectors(scope) },
          ...acting(scope),
        },
      );
      // A list can be thousands of objects long; only its head says what they are.
      yield { items: page.items, resourceVersion: page.metadata.resourceVersion };
      token = page.metadata.continue || undefined;
    } while (token);
  }

  return {
    kind,
    connection,
    pages,

    get: (key, options) =>
      connection.request<T>('GET', pathOf(kind, key), { what: `get ${plural} ${keyText(key)}`, ...options }),

    async list(scope) {
      for (let attempt = 1; ; attempt++) {
        try {
          const items: T[] = [];
          let resourceVersion = '';
          for await (const page of pages(scope)) {
            items.push(...page.items);
            ({ resourceVersion } = page);
          }
          return { items, resourceVersion };
        } catch (error) {
          if (!isExpired(error) || attempt >= listAttemptsMax) throw error;
        }
      }
    },

    create: (object, options) =>
      connection.request<T>('POST', collectionPath(kind, object.metadata.namespace), {
        what: `create ${plural} ${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`,
        body: { apiVersion, kind: kind.kind, ...object },
        ...options,
      }),

    mergePatch: (key, body, options) => patch(key, 'patch', mergePatchType, body, options),

    mergePatchStatus: (key, status, options) =>
      patch(key, 'patch the status of', mergePatchType, { status }, { ...options, subresource: '/status' }),

    applyStatus: (key, status, { fieldManager, ...options }) => {
      const body = { apiVersion, kind: kind.kind, metadata: key, status };
      const query = { fieldManager, force: true };
      return patch(key, 'apply the status of', applyPatchType, body, {
        ...options,
        query,
        subresource: '/status',
      });
    },

    replace: (object, options) =>
      connection.request<T>('PUT', pathOf(kind, object.metadata), {
        what: `replace ${plural} ${object.metadata.namespace ?? ''}/${object.metadata.name}`,
        body: { apiVersion, kind: kind.kind, ...object },
        ...options,
      }),

    async remove(key, { uid, resourceVersion, propagation, ...options } = {}) {
      await connection.request('DELETE', pathOf(kind, key), {
        what: `delete ${plural} ${keyText(key)}`,
        body: { preconditions: { uid, resourceVersion }, propagationPolicy: propagation },
        ...options,
      });
    },
  };
}

type PatchOptions = Acting & { readonly subresource?: '/status'; readonly query?: CallOptions['query'] };

interface ListBody<T> {
  readonly items: readonly T[];
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
}

const acting = ({ impersonate, signal, attemptsMax }: Acting): Acting => ({
  impersonate,
  signal,
  attemptsMax,
});

export const selectors = ({
  labelSelector,
  fieldSelector,
}: ListScope): Record<string, string | undefined> => ({
  labelSelector,
  fieldSelector,
});

/** Names come from users: each is one segment of the path, whatever it holds. */
export function collectionPath({ group, version, plural }: ResourceKind, namespace?: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}${namespace ? `/namespaces/${segment(namespace)}` : ''}/${plural}`;
}

const pathOf = (
  kind: ResourceKind,
  { namespace, name }: { readonly namespace?: string; readonly name: string },
) => `${collectionPath(kind, namespace)}/${segment(name)}`;

function segment(name: string): string {
  // The URL parser would read these two as folders, and an empty name as the whole collection.
  if (name === '' || name === '.' || name === '..')
    throw new RangeError(`not the name of an object: "${name}"`);
  return encodeURIComponent(name);
}
