import type { Source } from '../../api/canonical-values.ts';
import { isInvalid, type Invalid } from '../../api/problems.ts';
import type { AddressStatus } from '../../api/values.ts';
import type { Next, ObjectKey } from '../ports.ts';
import { Unbuildable } from '../snapshot/unbuildable.ts';
import { recheckMs } from './back-off.ts';
import { emptyAddress, resolveAddress, shownValue, type Clear } from './clear-values.ts';
import type { AddressPorts, EventText, SeenObject } from './ports.ts';

/** How a kind that is an address speaks of it (contract 3.6 and 7.2). */
export interface AddressKind {
  readonly resolving: string;
  readonly resolved: string;
  /** Said of an empty address, where there are words of its own for that. */
  readonly empty?: string;
  /** `unusable` says what else keeps the object from being ready. */
  read(
    object: SeenObject<AddressStatus>,
  ): { readonly address: Source; readonly unusable?: string | undefined } | Invalid;
  readonly announceResolved?: (address: string) => EventText;
  readonly announceFailed?: (message: string) => EventText;
}

/** An address that cannot be found is looked for again this soon: what it names may be on its way. */
const lookAgainMs = 10_000;

/**
 * Keeps `status` at where the object is now. It is read again every minute, because Secrets, ConfigMaps and Services
 * change without telling; nothing is terminal. An address from a Secret is not shown.
 */
export async function reconcileAddress(
  key: ObjectKey,
  kind: AddressKind,
  { objects, values, announce }: AddressPorts<AddressStatus>,
): Promise<Next> {
  const object = objects.get(key);
  if (!object) return 'settled';
  const { phase, message, lastResolvedAddress } = object.status;
  if (!phase) await objects.writeStatus(object, { phase: 'running', message: kind.resolving });

  const found = await look(kind, object, values);
  if (typeof found === 'string') {
    await objects.writeStatus(object, { ...object.status, phase: 'error', message: found });
    const isNew = phase !== 'error' || message !== found;
    if (isNew && kind.announceFailed) announce(object, kind.announceFailed(found));
    return { requeueAfterMs: lookAgainMs };
  }

  const address = shownValue(found);
  await objects.writeStatus(object, {
    phase: 'ready',
    message: kind.resolved,
    lastResolvedAddress: address,
  });
  const isNew = phase !== 'ready' || lastResolvedAddress !== address;
  if (isNew && kind.announceResolved) announce(object, kind.announceResolved(address));
  return { requeueAfterMs: recheckMs };
}

/** The address, or why there is none. */
async function look(
  kind: AddressKind,
  object: SeenObject<AddressStatus>,
  values: AddressPorts<AddressStatus>['values'],
): Promise<Clear | string> {
  const spec = kind.read(object);
  if (isInvalid(spec))
    return (spec.problems[0] ?? 'invalid').replace(/^failed to resolve Address/, 'Failed to resolve address');
  try {
    const found = await resolveAddress(spec.address, object.namespace, values);
    return spec.unusable ?? found;
  } catch (error) {
    if (!(error instanceof Unbuildable)) throw error;
    const isEmpty = error.message === emptyAddress;
    return (isEmpty && kind.empty) || `Failed to resolve address: ${error.message}`;
  }
}
