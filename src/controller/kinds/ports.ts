import type { OwnerReference } from '../../adapters/kubernetes/objects.ts';
import type { createModels } from '../../adapters/models/create-models.ts';
import type { JsonSchema, SecretRef } from '../../api/snapshot.ts';
import type { ObjectKey } from '../ports.ts';
import type { Definitions } from '../snapshot/definitions.ts';
import type { Polls } from './polls.ts';

/** What reconciling the kinds a Query uses needs from the world, as interfaces. */

/** An object as last seen, with the controller's own later writes. */
export interface SeenObject<Status> extends ObjectKey {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** As written by the user, perhaps before a rule existed that forbids it. */
  readonly spec: unknown;
  readonly status: Partial<Status>;
}

/** The objects of one kind. */
export interface Objects<Status> {
  /** Undefined where it is gone, or on its way. */
  get(key: ObjectKey): SeenObject<Status> | undefined;
  /** Makes status say this, whatever else of the object changed meanwhile; no call where it already does. */
  writeStatus(object: SeenObject<Status>, status: Partial<Status>): Promise<void>;
}

/**
 * Reads values with the controller's own rights (contract 3.9). Rejects with an `Unbuildable` for what a user must mend,
 * and with any other error for what heals by itself.
 */
export interface Values extends Pick<Definitions, 'configMap' | 'servicePorts'> {
  secret(ref: SecretRef): Promise<SecretValue>;
}

export interface SecretValue {
  /** Never logged, thrown, or written anywhere. */
  readonly value: string;
  /** Changes whenever the Secret is written; gives nothing away. */
  readonly version: string;
}

export interface EventText {
  readonly component: string;
  readonly type?: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Tells people about an object. Returns at once and never throws; a lost Event loses nothing. */
export type Announce<Status> = (about: SeenObject<Status>, event: EventText) => void;

export interface EveryKind<Status> {
  readonly objects: Objects<Status>;
  readonly now: () => Date;
}

export interface AddressPorts<Status> extends EveryKind<Status> {
  readonly values: Values;
  readonly announce: Announce<Status>;
}

export interface ModelPorts<Status> extends EveryKind<Status> {
  readonly values: Values;
  readonly complete: ReturnType<typeof createModels>['complete'];
  /** Aborts when this process stops. */
  readonly stopping: AbortSignal;
}

export interface ServerPorts<Status> extends AddressPorts<Status> {
  readonly offered: OfferedObjects;
  readonly polls: Polls;
  /** Aborts when this process stops. */
  readonly stopping: AbortSignal;
}

/** An address and its headers in clear: never logged, never thrown. */
export interface ServerAddress {
  readonly address: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

export interface McpServerAddress extends ServerAddress {
  readonly namespace: string;
  readonly name: string;
  readonly transport: 'http' | 'sse';
  readonly timeoutMs: number;
}

export interface McpPort {
  /** All pages of the server's tools. Rejects with an Error; `sent: false` where the server was not reached. */
  list(server: McpServerAddress, signal: AbortSignal): Promise<readonly ListedTool[]>;
}

export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: JsonSchema | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

export interface A2aPort {
  /** What a server says of its agent. Rejects with an Error. */
  card(server: ServerAddress, signal: AbortSignal): Promise<AgentCard>;
}

export interface AgentCard {
  readonly name: string;
  readonly description: string;
  /** Null where the card has none. */
  readonly skills: readonly unknown[] | null;
}

/** Who a generated object belongs to: it goes when its owner goes. */
export type Owner = OwnerReference;

/** A Tool or an Agent that a server offers, as it should be. */
export interface Offer extends ObjectKey {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owner: Owner;
  readonly spec: object;
}

/** A Tool or an Agent as it is. */
export interface ExistingObject extends ObjectKey {
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owners: readonly Owner[];
  readonly spec: object;
}

/** The Tools, or the Agents. What the API server refuses rejects with an Error that says so. */
export interface OfferedObjects {
  /** As last seen. */
  get(key: ObjectKey): ExistingObject | undefined;
  /** As it is this moment. */
  read(key: ObjectKey): Promise<ExistingObject | undefined>;
  /** Those of a namespace, as last seen. */
  list(namespace: string): readonly ExistingObject[];
  /** False where an object of that name is there. */
  create(offer: Offer): Promise<boolean>;
  /** Changes this very object (by uid) to be as offered, and leaves what others added. */
  change(existing: ExistingObject, offer: Offer): Promise<void>;
  /** Deletes this very object; nothing to do where it is gone. */
  remove(existing: ExistingObject): Promise<void>;
}
