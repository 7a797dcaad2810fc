import type { ClientConnectConfig } from '@temporalio/envconfig';
import { UsageError } from './settings.ts';

export type TemporalAccess = ClientConnectConfig & { readonly namespace: string };

/** For the help of every command that talks to Temporal. */
export const temporalHelp = `
Temporal is reached as every Temporal tool reaches it: besides the flags above, TEMPORAL_API_KEY, TEMPORAL_TLS,
TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH, TEMPORAL_TLS_SERVER_CA_CERT_PATH,
TEMPORAL_TLS_SERVER_NAME, TEMPORAL_GRPC_META_… and a profile of TEMPORAL_CONFIG_FILE (TEMPORAL_PROFILE) are read.
`;

/** Flags win over the environment, the environment over the profile; throws a `UsageError` where they make no sense. */
export async function temporalAccess(settings: {
  readonly temporalAddress: string | undefined;
  readonly temporalNamespace: string | undefined;
}): Promise<TemporalAccess> {
  const { temporalAddress: address, temporalNamespace: namespace } = settings;
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  try {
    const config = loadClientConnectConfig();
    return {
      connectionOptions: { ...config.connectionOptions, ...(address !== undefined && { address }) },
      namespace: namespace ?? config.namespace ?? 'default',
    };
  } catch (error) {
    throw new UsageError(
      `The Temporal settings cannot be used: ${(error as Error).message}; correct the TEMPORAL_… variables or the file ` +
        'that TEMPORAL_CONFIG_FILE names.',
      { cause: error },
    );
  }
}
