/**
 * Rules one object can hold by itself, as CEL for the API server (`x-kubernetes-validations`).
 *
 * CEL cannot be shared with TypeScript, so each rule stands twice: here, in a schema's meta, for admission; and as a
 * line of `queryProblems` and its sisters, for objects admitted before the rule existed. The fixtures in
 * test/api/fixtures hold the two together, message by message. The messages are ARK's (contract section 2).
 */
export interface Rule {
  readonly rule: string;
  readonly message?: string;
  /** CEL that makes the message, where it names a part of the object. */
  readonly messageExpression?: string;
}

export const rules = (...all: readonly Rule[]) => ({ 'x-kubernetes-validations': all });

/** A rule on a list, in CEL. Names of an item and of its index are ours to choose; `i` is taken for the index. */
interface ItemRule {
  readonly list: string;
  /** The variable for an item in `holds`. */
  readonly item: string;
  readonly holds: string;
  /** Where the rule applies; absent means everywhere. */
  readonly where?: string;
  /** CEL for the message, from CEL for the index as text and for the item. */
  readonly message: (index: string, item: string) => string;
}

/**
 * Every item of a list holds a rule; otherwise the message names the first that does not.
 *
 * A rule on the item itself would be simpler, but cannot know its index, which ARK's messages carry.
 */
export function everyItem({ list, item, holds, where, message }: ItemRule): Rule {
  const rule = `${list}.all(${item}, ${holds})`;
  // A list of one stands in for a variable. indexOf on a mapped list rather than a two-variable comprehension:
  // the latter needs Kubernetes 1.33.
  const first = `[${list}.map(${item}, ${holds}).indexOf(false)]`;
  return {
    rule: where === undefined ? rule : `!(${where}) || ${rule}`,
    messageExpression: `${first}.map(i, ${message(decimal('i'), `${list}[i]`)})[0]`,
  };
}

const digits = "['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']";

/** CEL for an index up to 999 as text. string(i) would do, but counts as of any length: too costly to be admitted. */
const decimal = (i: string) =>
  `(${i} > 99 ? ${digits}[${i} / 100] : '') + (${i} > 9 ? ${digits}[${i} / 10 % 10] : '') + ${digits}[${i} % 10]`;

/** CEL: `object` has `field`, and it is not the empty string, which ARK counts as absent. */
export const isSet = (object: string, field: string) =>
  `(has(${object}.${field}) && ${object}.${field} != '')`;

/** Contract 3.10: a value source has a value, or says where one is. `start` is the message's; `unless` where not to look. */
export function hasSource(source: string, start: string, unless?: string): readonly Rule[] {
  const skip = unless === undefined ? '' : `${unless} || `;
  const hasValue = isSet(source, 'value');
  const sources = ['secretKeyRef', 'configMapKeyRef', 'serviceRef'].map(
    (one) => `has(${source}.valueFrom.${one})`,
  );
  return [
    {
      rule: `${skip}${hasValue} || has(${source}.valueFrom)`,
      message: `${start}: value source must have either value or valueFrom specified`,
    },
    {
      rule: `${skip}${hasValue} || !has(${source}.valueFrom) || ${sources.join(' || ')}`,
      message: `${start}: no valid valueFrom source specified`,
    },
  ];
}

/** The address of something far away; the words are the same for every kind that has one (contract 2.7 and 2.8). */
export const addressRules = hasSource('self.address', 'failed to resolve Address');
