import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { authorityOf } from './credentials.ts';
import {
  healthPort,
  isArkwright,
  temporalNamespace,
  urls,
  type ProcessName,
  type StackFacts,
} from './programs.ts';

/** Whether a part of the stack does its work now: asked of the part itself, or seen in what it does. */
export async function isReady(name: ProcessName, facts: StackFacts): Promise<boolean> {
  if (isArkwright(name)) return isOk(`http://127.0.0.1:${healthPort(name, facts.ports)}/readyz`);

  const { etcd, temporalUi } = urls(facts.ports);
  switch (name) {
    case 'etcd':
      return isOk(`${etcd}/health`);
    case 'apiserver':
      return apiserverSays('/readyz', facts);
    case 'controller-manager':
      // It has no port. These two are its work, so after the first start of a stack they prove that it runs.
      return (
        (await apiserverSays('/api/v1/namespaces/default/serviceaccounts/default', facts)) &&
        (await apiserverSays('/api/v1/namespaces/default/configmaps/kube-root-ca.crt', facts))
      );
    case 'temporal':
      // The Web UI hands this on to the server's gRPC port: one question for both, and for the namespace.
      return isOk(`${temporalUi}/api/v1/namespaces/${temporalNamespace}`);
  }
}

async function apiserverSays(path: string, { ports, credentials }: StackFacts): Promise<boolean> {
  const ca = await authorityOf(credentials).catch(() => undefined);
  if (ca === undefined) return false;

  const headers = { authorization: `Bearer ${credentials.adminToken}` };
  return isOk(`${urls(ports).apiserver}${path}`, { ca, headers });
}

/** On a busy machine the API server takes seconds to check itself, and starts over when the question is withdrawn. */
const answerWithinMs = 15_000;

/** Asks once, on a connection of its own: one from before a restart would lead to a process that is gone. */
function isOk(
  url: string,
  options: { ca?: string; headers?: Record<string, string> } = {},
): Promise<boolean> {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const asked = request(url, { ...options, agent: false, timeout: answerWithinMs }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('close', () => resolve(false));
    asked.on('error', () => resolve(false));
    asked.end();
  });
}
