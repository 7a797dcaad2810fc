import type { Access } from '../../api/snapshot.ts';

/** The user behind a Query (contract 3.9); the API server adds a service account's groups itself. */
export const userOf = ({ namespace, serviceAccount }: Access): string =>
  `system:serviceaccount:${namespace}:${serviceAccount}`;
