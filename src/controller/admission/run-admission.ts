import { isIPv6 } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { KubernetesConnection } from '../../adapters/kubernetes/connection.ts';
import type { Logger } from '../../adapters/telemetry/logger.ts';
import { startAdmissionServer } from './admission-server.ts';
import type { AdmissionServer } from './admission-server.ts';
import { sharedCertificate } from './certificate-secret.ts';
import { clusterReader } from './cluster-reader.ts';
import type { Views } from './cluster-reader.ts';
import { register, unregister } from './registration.ts';
import type { Address } from './registration.ts';

export interface AdmissionSettings {
  /** How the API server finds us: by the Service that `arkwright install --webhook` makes, or at host and port. */
  readonly by: 'service' | 'url';
  /** Where to listen; with `url` also what the API server is told. */
  readonly host: string;
  readonly port: number;
  readonly failurePolicy: 'Fail' | 'Ignore';
  /** How long a certificate is good, and how often all of it is looked after. */
  readonly lifeMs?: number;
  readonly upkeepMs?: number;
}

export interface Admission {
  /** Resolves when the API server has been told to ask us, and we answer. Never rejects. */
  readonly active: Promise<void>;
  /** Resolves when nobody asks us any more, or those who do are told to ask other replicas. */
  stop(): Promise<void>;
}

export const serviceName = 'arkwright-webhook';
const servicePort = 443;

const upkeepMsDefault = 60_000;
/** After a failure: first, and at most. */
const retryMs = { first: 250, max: 15_000 };
/** The API server goes by the configuration it saw last, some 10 ms ago: until it trusts a new authority, and asks no more. */
const settleMs = 1_000;
const partingMs = 200;
const unregisterMsMax = 3_000;

/**
 * Answers the API server's questions about ARK objects until it is stopped, with a certificate that is renewed while it
 * runs, and sees to it that the API server asks. What cannot be done now is done as soon as it can be. Serves also where
 * another replica leads.
 */
export function startAdmission(
  connection: KubernetesConnection,
  views: Views,
  settings: AdmissionSettings & { readonly namespace: string; readonly logger: Logger },
): Admission {
  const { by, host, namespace, failurePolicy, lifeMs, logger, upkeepMs = upkeepMsDefault } = settings;
  const stopping = new AbortController();
  const { signal } = stopping;
  const active = Promise.withResolvers<void>();
  let server: AdmissionServer | undefined;
  let served: string | undefined;

  const url = () => `https://${isIPv6(host) ? `[${host}]` : host}:${server?.port ?? settings.port}`;
  const address = (): Address =>
    by === 'url' ? { url: url() } : { service: { namespace, name: serviceName, port: servicePort } };

  /** What makes the API server ask, in an order in which it can never be told to trust less than what is served. */
  async function tend(): Promise<void> {
    const hosts = by === 'url' ? [host] : serviceHosts(namespace);
    const shared = await sharedCertificate(connection, { namespace, hosts, lifeMs, signal });
    if (!server) {
      server = await listen(shared);
      served = shared.certificate;
    }
    const { authorities } = shared;
    const changed = await register(connection, { address: address(), authorities, failurePolicy, signal });
    if (changed) logger.info({ address: address() }, 'the API server asks this webhook');
    if (served === shared.certificate) return;

    await pause(settleMs, undefined, { signal });
    server.serve(shared);
    served = shared.certificate;
    logger.info('the webhook has a new certificate');
  }

  const listen = (certificate: { readonly certificate: string; readonly key: string }) =>
    startAdmissionServer({
      host,
      port: settings.port,
      certificate,
      reader: clusterReader(connection, views),
      onTrouble: (err) => logger.warn({ err }, 'an object could not be checked'),
    });

  async function keepUp(): Promise<void> {
    let waitMs = retryMs.first;
    while (!signal.aborted) {
      try {
        await tend();
        active.resolve();
        waitMs = retryMs.first;
        await pause(upkeepMs, undefined, { signal });
      } catch (err) {
        if (signal.aborted) return;
        logger.warn({ err, retryInMs: waitMs }, 'the webhook is not as it should be');
        await pause(waitMs, undefined, { signal }).catch(() => {});
        waitMs = Math.min(waitMs * 2, retryMs.max);
      }
    }
  }

  const running = keepUp();
  return {
    active: active.promise,
    async stop() {
      stopping.abort();
      await running;
      if (!server) return;
      // Other replicas stand behind a Service. Behind an address there is nobody, and every write would wait or fail.
      if (by === 'url') {
        await unregister(connection, url(), AbortSignal.timeout(unregisterMsMax)).catch((err: unknown) => {
          logger.warn({ err }, 'could not tell the API server to ask this webhook no longer');
        });
        await pause(partingMs);
      }
      await server.close();
    },
  };
}

/** The name Kubernetes uses comes first. */
const serviceHosts = (namespace: string): readonly string[] => [
  `${serviceName}.${namespace}.svc`,
  `${serviceName}.${namespace}.svc.cluster.local`,
];
