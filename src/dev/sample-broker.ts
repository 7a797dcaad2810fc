import { stringify } from 'yaml';
import type { Kubectl } from './kubectl.ts';

/** Writes where the broker is into the ConfigMap `arkwright-broker`, from which the samples' Memory reads its address. */
export async function applySampleMemory(kubectl: Kubectl, brokerUrl: string): Promise<void> {
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'arkwright-broker', namespace: 'default' },
    data: { url: brokerUrl },
  };
  await kubectl(['apply', '--namespace', 'default', '-f', '-'], stringify(configMap));
}
