import { KubernetesError } from '../../adapters/kubernetes/kubernetes-error.ts';
import { keyText } from '../../adapters/kubernetes/objects.ts';
import { contentHash } from '../snapshot/content-hash.ts';
import type { ExistingObject, Offer, OfferedObjects, Owner } from './ports.ts';

export interface OffersMade {
  /** Names of objects that were not there before. */
  readonly created: readonly string[];
  /** Why some of the offers could not be made; empty where all of them stand. */
  readonly problems: readonly string[];
}

/** Further ones would only be read after these have been mended. */
const problemsMax = 5;

/**
 * Makes the objects of a namespace that belong to `owner` be these offers: creates and mends them, and deletes those
 * that are offered no more. What belongs to somebody else stays as it is, and is a problem where it has the name of an
 * offer. One offer that is refused does not keep the others from being made.
 */
export async function makeOffers(
  offers: readonly Offer[],
  { owner, namespace }: { readonly owner: Owner; readonly namespace: string },
  objects: OfferedObjects,
): Promise<OffersMade> {
  const created: string[] = [];
  const problems: string[] = [];
  const orProblem = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      problems.push(error.message);
    }
  };

  for (const offer of offers) {
    await orProblem(async () => {
      const before = objects.get(offer);
      if (!before && (await objects.create(offer))) {
        created.push(offer.name);
        return;
      }
      const existing = before ?? (await objects.read(offer));
      if (!existing) return;
      if (!belongsTo(existing, owner)) problems.push(foreign(existing, owner));
      else if (!isAsOffered(existing, offer)) await objects.change(existing, offer);
    });
  }

  const offered = new Set(offers.map(({ name }) => name));
  for (const existing of objects.list(namespace)) {
    if (offered.has(existing.name) || !belongsTo(existing, owner)) continue;
    await orProblem(() => objects.remove(existing));
  }
  return { created, problems: problems.slice(0, problemsMax) };
}

const belongsTo = ({ owners }: ExistingObject, { uid }: Owner): boolean =>
  owners.some((owner) => owner.uid === uid);

const foreign = (existing: ExistingObject, { kind, name }: Owner): string =>
  `${keyText(existing)} is there already and does not belong to the ${kind} ${name}; rename one of them, or delete it`;

/** Every field that is offered, and no other field of the spec. */
function isAsOffered(existing: ExistingObject, { labels, annotations, spec }: Offer): boolean {
  return (
    isEqual(existing.spec, spec) &&
    Object.entries(labels).every(([key, value]) => existing.labels[key] === value) &&
    Object.entries(annotations).every(([key, value]) => existing.annotations[key] === value)
  );
}

/** As JSON: a field that is undefined is absent. */
const isEqual = (one: object, other: object): boolean => contentHash(one) === contentHash(other);
