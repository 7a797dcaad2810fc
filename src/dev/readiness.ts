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
  if (isArkwright(name)) {
    const isUp = await isOk(`http://127.0.0.1:${healthPort(name, facts.ports)}/readyz`);
    return isUp && (name !== 'controller' || asksWebhook(facts));
  }

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

const apiserverSays = async (path: string, facts: StackFacts): Promise<boolean> =>
  (await apiserverAnswers(path, facts)) === 200;

async function apiserverAnswers(
  path: string,
  { ports, credentials }: StackFacts,
  body?: object,
): Promise<number | undefined> {
  const ca = await authorityOf(credentials).catch(() => undefined);
  if (ca === undefined) return undefined;

  const headers = {
    authorization: `Bearer ${credentials.adminToken}`,
    ...(body && { 'content-type': 'application/json' }),
  };
  return statusOf(`${urls(ports).apiserver}${path}`, { ca, headers }, body);
}

/** Whether the API server asks the controller about objects: nobody else refuses this one, which nobody would keep. */
async function asksWebhook(facts: StackFacts): Promise<boolean> {
  const agent = {
    apiVersion: 'ark.mckinsey.com/v1alpha1',
    kind: 'Agent',
    metadata: { name: 'arkwright-readiness' },
    spec: { modelRef: { name: 'arkwright-readiness' } },
  };
  const path = '/apis/ark.mckinsey.com/v1alpha1/namespaces/default/agents?dryRun=All';
  return (await apiserverAnswers(path, facts, agent)) === 403;
}

/** On a busy machine the API server takes seconds to check itself, and starts over when the question is withdrawn. */
const answerWithinMs = 15_000;

const isOk = async (url: string): Promise<boolean> => (await statusOf(url)) === 200;

/** Asks once, on a connection of its own: one from before a restart would lead to a process that is gone. */
function statusOf(
  url: string,
  options: { ca?: string; headers?: Record<string, string> } = {},
  body?: object,
): Promise<number | undefined> {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest;
  const asking = { ...options, method: body ? 'POST' : 'GET', agent: false, timeout: answerWithinMs };
  return new Promise((resolve) => {
    const asked = request(url, asking, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('close', () => resolve(undefined));
    asked.on('error', () => resolve(undefined));
    asked.end(body && JSON.stringify(body));
  });
}
