import { stringify } from 'yaml';
import type { Kubectl } from './kubectl.ts';

/**
 * Tells the namespace `default` where the broker is: in the ConfigMap `arkwright-broker`, from which the samples' Memory
 * reads its address, and in `ark-config-streaming`, which is where Queries look that want their answers streamed.
 */
export async function applySampleBroker(kubectl: Kubectl, brokerUrl: string): Promise<void> {
  const configMaps = {
    'arkwright-broker': { url: brokerUrl },
    'ark-config-streaming': { enabled: 'true', address: brokerUrl },
  };
  const manifests = Object.entries(configMaps).map(([name, data]) =>
    stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data }),
  );
  await kubectl(['apply', '--namespace', 'default', '-f', '-'], manifests.join('---\n'));
}
