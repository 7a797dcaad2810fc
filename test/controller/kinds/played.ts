/** A cluster in memory, as the reconcilers of kinds see it: objects, values, offers, Events, and a clock that stands still. */
import type {
  AddressPorts,
  EventText,
  ExistingObject,
  Offer,
  SeenObject,
} from '../../../src/controller/kinds/ports.ts';
import { createPolls } from '../../../src/controller/kinds/polls.ts';
import type { OfferedObjects, ServerPorts, Values } from '../../../src/controller/kinds/ports.ts';
import { Unbuildable } from '../../../src/controller/snapshot/unbuildable.ts';
import { KubernetesError } from '../../../src/adapters/kubernetes/kubernetes-error.ts';

export const key = { namespace: 'default', name: 'it' };

export interface Played {
  readonly secrets: Record<string, Record<string, string>>;
  readonly configMaps: Record<string, Record<string, string>>;
  readonly services: Record<string, readonly { readonly name?: string; readonly port: number }[]>;
}

/** One object, `default/it`, with everything a reconciler could want, and what came of it. */
export function play<Status extends object>(spec: unknown, status: Partial<Status> = {}) {
  let nowMs = Date.parse('2026-01-01T00:00:00Z');
  let object: SeenObject<Status> | undefined = { ...key, uid: 'a-uid', annotations: {}, spec, status };
  const writes: Partial<Status>[] = [];
  const events: EventText[] = [];
  const held: Played = { secrets: {}, configMaps: {}, services: {} };
  const versions = new Map<string, number>();
  const offers = playOffers();
  const now = () => new Date(nowMs);
  const stopping = new AbortController();

  const values: Values = {
    configMap: async ({ name }) => held.configMaps[name] ?? missing(`configmaps "${name}" not found`),
    servicePorts: async ({ name }) => held.services[name] ?? missing(`services "${name}" not found`),
    async secret({ namespace, name, key: field }) {
      const data = held.secrets[name];
      if (!data) return missing(`failed to get secret ${namespace}/${name}: secrets "${name}" not found`);
      const value = data[field] ?? missing(`key ${field} not found in secret ${namespace}/${name}`);
      return { value, version: `${name}/${versions.get(name) ?? 0}` };
    },
  };
  const objects: AddressPorts<Status>['objects'] = {
    get: () => object,
    async writeStatus(_, wanted) {
      const said = JSON.parse(JSON.stringify(wanted)) as Partial<Status>;
      if (!object || JSON.stringify(sorted(object.status)) === JSON.stringify(sorted(said))) return;
      object = { ...object, status: said };
      writes.push(said);
    },
  };
  const ports: ServerPorts<Status> = {
    objects,
    values,
    now,
    announce: (_, event) => void events.push(event),
    polls: createPolls(now),
    offered: offers.port,
    stopping: stopping.signal,
  };

  return {
    ports,
    held,
    writes,
    events,
    offers,
    get status(): Partial<Status> {
      return object?.status ?? {};
    },
    pass(ms: number): void {
      nowMs += ms;
    },
    change(change: Partial<SeenObject<Status>>): void {
      if (object) object = { ...object, ...change };
    },
    remove(): void {
      object = undefined;
    },
    writeSecret(name: string, data: Record<string, string>): void {
      held.secrets[name] = data;
      versions.set(name, (versions.get(name) ?? 0) + 1);
    },
    stop(): void {
      stopping.abort(new Error('stopped'));
    },
  };
}

function missing(message: string): never {
  throw new Unbuildable('ValueInvalid', message, { missing: true });
}

const sorted = (status: object): unknown =>
  Object.fromEntries(Object.entries(status).toSorted(([a], [b]) => (a < b ? -1 : 1)));

function playOffers() {
  const all = new Map<string, ExistingObject>();
  const log: string[] = [];
  let refusal: string | undefined;
  const refuseIf = (what: string): void => {
    if (refusal !== undefined)
      throw new KubernetesError(what, { status: 422, reason: 'Invalid', detail: refusal, retryable: false });
  };
  const store = (offer: Offer, uid: string): void =>
    void all.set(offer.name, { ...offer, uid, owners: [offer.owner] });

  const port: OfferedObjects = {
    get: ({ name }) => all.get(name),
    read: async ({ name }) => all.get(name),
    list: () => [...all.values()],
    async create(offer) {
      refuseIf(`create ${offer.name}`);
      if (all.has(offer.name)) return false;
      store(offer, `uid-of-${offer.name}`);
      log.push(`create ${offer.name}`);
      return true;
    },
    async change(existing, offer) {
      refuseIf(`patch ${offer.name}`);
      store(offer, existing.uid);
      log.push(`change ${offer.name}`);
    },
    async remove({ name }) {
      all.delete(name);
      log.push(`remove ${name}`);
    },
  };
  return {
    port,
    all,
    log,
    names: () => [...all.keys()].toSorted(),
    spec: (name: string) => all.get(name)?.spec,
    /** Somebody else's object of this name. */
    put(name: string, change: Partial<ExistingObject> = {}): void {
      const { namespace } = key;
      all.set(name, {
        namespace,
        name,
        uid: name,
        labels: {},
        annotations: {},
        owners: [],
        spec: {},
        ...change,
      });
    },
    refuse(why: string | undefined): void {
      refusal = why;
    },
  };
}

/** `type=status reason: message` of each condition. */
export const told = (status: {
  conditions?: readonly { type: string; status: string; reason: string; message: string }[] | undefined;
}): string[] => (status.conditions ?? []).map((is) => `${is.type}=${is.status} ${is.reason}: ${is.message}`);
