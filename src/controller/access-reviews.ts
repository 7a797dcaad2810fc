import { userOf } from '../adapters/kubernetes/user-of.ts';
import { LRUCache } from 'lru-cache';
import type { KubernetesConnection } from '../adapters/kubernetes/connection.ts';
import type { Access } from '../api/snapshot.ts';
import { Unbuildable } from './snapshot/unbuildable.ts';

/** How long an answer of the API server's is good for. A grant is taken back rarely and given while someone waits. */
const allowedMsMax = 10_000;
const deniedMsMax = 1_000;
const answersMax = 10_000;

export interface ResourceAttributes {
  readonly verb: 'get' | 'list';
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  /** Absent: all of the namespace. */
  readonly name?: string;
}

export interface AccessReviews {
  /** Resolves if the service account may; else rejects with the words the API server has for it. */
  require(access: Access, what: ResourceAttributes): Promise<void>;
}

/** Asks the API server's own authorizer, because the caches that definitions are read from know no users. */
export function accessReviews(connection: KubernetesConnection): AccessReviews {
  const answers = new LRUCache<string, Promise<boolean>>({ max: answersMax, ttl: allowedMsMax });

  function mayAt(access: Access, what: ResourceAttributes): Promise<boolean> {
    const question = JSON.stringify([userOf(access), what]);
    const known = answers.get(question);
    if (known) return known;

    const answer = review(connection, access, what);
    answers.set(question, answer);
    void answer.then(
      (allowed) => allowed || answers.set(question, answer, { ttl: deniedMsMax }),
      () => answers.delete(question),
    );
    return answer;
  }

  return {
    async require(access, what) {
      // Most service accounts may read all of a kind or nothing: one answer then serves all its objects.
      if (await mayAt(access, { ...what, name: undefined })) return;
      if (what.name && (await mayAt(access, what))) return;
      throw new Unbuildable('AccessDenied', forbidden(access, what));
    },
  };
}

async function review(
  connection: KubernetesConnection,
  access: Access,
  what: ResourceAttributes,
): Promise<boolean> {
  const answer = await connection.request<{ readonly status?: { readonly allowed?: boolean } }>(
    'POST',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    {
      what: `ask whether ${userOf(access)} may ${what.verb} ${what.resource} in ${what.namespace}`,
      repeatable: true,
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: userOf(access),
          // What the API server itself adds to a service account that is impersonated by its name alone.
          groups: [
            'system:serviceaccounts',
            `system:serviceaccounts:${access.namespace}`,
            'system:authenticated',
          ],
          resourceAttributes: what,
        },
      },
    },
  );
  return answer.status?.allowed ?? false;
}

function forbidden(access: Access, { verb, group, resource, namespace, name }: ResourceAttributes): string {
  const object = [resource, group].filter(Boolean).join('.');
  return `${object}${name ? ` "${name}"` : ''} is forbidden: User "${userOf(access)}" cannot ${verb} resource "${resource}" in API group "${group}" in the namespace "${namespace}"`;
}
