import { Pool, ProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import type { Credential } from './credentials.ts';
import type { ClusterAccess } from './kubeconfig.ts';

export interface Dispatchers {
  requests(credential: Credential): Dispatcher;
  streams(credential: Credential): Dispatcher;
  close(): Promise<void>;
}

const connectTimeoutMs = 10_000;
/** Below the minute after which load balancers forget quiet connections. */
const keepAliveMs = 30_000;
/** A page of 500 objects whose status is as large as we allow comes to half of this. */
const answerBytesMax = 256 * 1024 * 1024;

/**
 * Sockets to the API server, kept and shared. Streams have a pool of their own: each occupies a connection for
 * minutes, and must neither wait for requests nor hold them up. Connections carry the client certificate, so a
 * renewed one means new pools; the old ones finish what they have begun.
 */
export function createDispatchers(
  access: ClusterAccess,
  bounds: { readonly timeoutMs: number; readonly connectionsMax: number },
): Dispatchers {
  let pools: { requests: Dispatcher; streams: Dispatcher; certificate: string } | undefined;

  function current(credential: Credential) {
    const certificate = String(credential.certificate?.cert ?? '');
    if (pools?.certificate === certificate) return pools;

    void pools?.requests.close();
    void pools?.streams.close();
    const timeouts = { headersTimeout: bounds.timeoutMs, bodyTimeout: bounds.timeoutMs };
    pools = {
      requests: createPool(access, credential, {
        ...timeouts,
        connections: bounds.connectionsMax,
        maxResponseSize: answerBytesMax,
      }),
      streams: createPool(access, credential, timeouts),
      certificate,
    };
    return pools;
  }

  return {
    requests: (credential) => current(credential).requests,
    streams: (credential) => current(credential).streams,
    async close() {
      await Promise.all([pools?.requests.close(), pools?.streams.destroy()]);
    },
  };
}

function createPool(access: ClusterAccess, { certificate }: Credential, options: Pool.Options): Dispatcher {
  const tls = {
    ca: access.ca,
    ...certificate,
    servername: access.tlsServerName,
    rejectUnauthorized: !access.skipTlsVerify,
    timeout: connectTimeoutMs,
  };
  const { origin } = new URL(access.server);
  // Not HTTP/2: it would carry everything, watches too, over one socket, and fail it all together.
  const every = { ...options, keepAliveTimeout: keepAliveMs, allowH2: false };
  return access.proxyUrl
    ? new ProxyAgent({ ...every, uri: access.proxyUrl, requestTls: tls })
    : new Pool(origin, { ...every, connect: tls });
}
