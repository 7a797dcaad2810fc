import type { KubernetesConnection } from '../../adapters/kubernetes/connection.ts';
import type { KubernetesObject } from '../../adapters/kubernetes/objects.ts';
import { createResources } from '../../adapters/kubernetes/resources.ts';
import { inOurWords } from '../kubernetes-definitions.ts';
import type { ServicePort } from '../snapshot/definitions.ts';
import { Unbuildable, within } from '../snapshot/unbuildable.ts';
import type { Values } from './ports.ts';

interface Data extends KubernetesObject {
  /** Of a Secret: base64. */
  readonly data?: Readonly<Record<string, string>>;
}

interface ServiceSpec {
  readonly ports?: readonly ServicePort[];
}

/** ConfigMaps, Services and Secrets, read one by one with the controller's own rights (contract 3.9 and 3.10). */
export function kubernetesValues(connection: KubernetesConnection): Values {
  const core = <T extends KubernetesObject>(plural: string, kind: string) =>
    createResources<T>(connection, { group: '', version: 'v1', plural, kind });
  const configMaps = core<Data>('configmaps', 'ConfigMap');
  const secrets = core<Data>('secrets', 'Secret');
  const services = core<KubernetesObject<ServiceSpec>>('services', 'Service');

  const reading = async <T>(read: Promise<T>): Promise<T> =>
    read.catch((error: unknown) => {
      throw inOurWords(error);
    });

  return {
    configMap: async (key) => (await reading(configMaps.get(key))).data ?? {},
    servicePorts: async (key) => (await reading(services.get(key))).spec?.ports ?? [],

    async secret({ namespace, name, key }) {
      const where = `secret ${namespace}/${name}`;
      const secret = await within(`failed to get ${where}: `, () =>
        reading(secrets.get({ namespace, name })),
      );
      const { data = {}, metadata } = secret;
      const value = Object.hasOwn(data, key) ? data[key] : undefined;
      if (value === undefined) throw new Unbuildable('SecretUnavailable', `key ${key} not found in ${where}`);
      return {
        value: Buffer.from(value, 'base64').toString('utf8'),
        version: `${metadata.uid}/${metadata.resourceVersion}`,
      };
    },
  };
}
