import { createHash } from 'node:crypto';

const nameLengthMax = 253;
const labelLengthMax = 63;

/** `<name><suffix>`, where that is longer than a name may be with its middle replaced by a hash. */
export const nameWithin = (name: string, suffix: string): string =>
  name.length + suffix.length <= nameLengthMax
    ? name + suffix
    : short(name, nameLengthMax - suffix.length) + suffix;

/** A name as a label can hold it. */
export const labelValue = (name: string): string =>
  name.length <= labelLengthMax ? name : short(name, labelLengthMax);

function short(name: string, lengthMax: number): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, lengthMax - hash.length - 1)}-${hash}`;
}
