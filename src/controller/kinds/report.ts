import type { Condition } from '../../api/values.ts';
import type { Objects, SeenObject } from './ports.ts';

export type Says = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export const says = (type: string, status: 'True' | 'False', reason: string, message: string): Says => ({
  type,
  status,
  reason,
  message,
});

/** Of every server whose address cannot be found (contract 3.4 and 3.7). */
export const unresolved: readonly Says[] = [
  says('Ready', 'False', 'AddressResolutionFailed', 'Server not ready due to address resolution failure'),
  says(
    'Discovering',
    'False',
    'AddressResolutionFailed',
    'Cannot attempt discovery due to address resolution failure',
  ),
];

const messageCharactersMax = 4_000;

interface WithConditions {
  readonly conditions?: readonly Condition[] | undefined;
}

/** Changes parts of an object's status, one after the other. */
export type Report<Status> = (change: Partial<Status>, ...anew: readonly Says[]) => Promise<void>;

/** A report on this object; each builds on the one before, and writes nothing where nothing is new. */
export function reportOn<Status extends WithConditions>(
  object: SeenObject<Status>,
  { objects, now }: { readonly objects: Objects<Status>; readonly now: () => Date },
): Report<Status> {
  let { status } = object;
  return async (change, ...anew) => {
    status = { ...status, ...change, conditions: withConditions(status.conditions, anew, now()) };
    await objects.writeStatus(object, status);
  };
}

/** The same conditions with these said anew; the time of a transition stays where the status does. */
export function withConditions(
  before: readonly Condition[] = [],
  anew: readonly Says[],
  now: Date,
): Condition[] {
  const said = new Set(anew.map(({ type }) => type));
  return [
    ...before.filter(({ type }) => !said.has(type)),
    ...anew.map(({ message, ...rest }): Condition => {
      const last = before.find(({ type }) => type === rest.type);
      const hasTurned = last?.status !== rest.status;
      return {
        ...rest,
        message: message.slice(0, messageCharactersMax),
        lastTransitionTime: hasTurned ? secondsOf(now) : last.lastTransitionTime,
      };
    }),
  ].toSorted((one, other) => (one.type < other.type ? -1 : 1));
}

/** As Kubernetes writes times of conditions. */
export const secondsOf = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');
