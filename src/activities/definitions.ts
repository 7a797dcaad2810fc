import { LRUCache } from 'lru-cache';
import type { Definition, Hash } from '../api/snapshot.ts';
import type { RunRef } from '../api/transcript.ts';
import { untilAborted, type Step } from './context.ts';
import { CallFailure } from './failures.ts';
import type { RunReader } from './ports.ts';

const definitionsMax = 10_000;
const bytesMax = 64 * 1024 * 1024;
const bytesPerCharacter = 2;
/** A nested team points at the root run, a continued run at the first of its chain. */
const referralsMax = 4;

/**
 * The definitions this process knows, by the hash of their content, so that runs share them. One that is not known is
 * asked of the run that needs it, by the workflow query `definition`, once for all that ask at the same time.
 */
export interface Definitions {
  /** The definition, which is of one of `kinds`. */
  get<K extends Definition['kind']>(
    step: Step,
    hash: Hash,
    ...kinds: readonly K[]
  ): Promise<Extract<Definition, { readonly kind: K }>>;
  /** Remembers a definition that came along, so that later calls need not ask for it. */
  keep(hash: Hash, definition: Definition): void;
}

export function createDefinitions(limits = { definitionsMax, bytesMax }): Definitions {
  const known = new LRUCache<Hash, Definition>({
    max: limits.definitionsMax,
    maxSize: limits.bytesMax,
    sizeCalculation: (definition) => JSON.stringify(definition).length * bytesPerCharacter,
  });
  const flights = new Map<Hash, Promise<Definition | null>>();

  async function fetch({ reader, run }: Step, hash: Hash): Promise<Definition | null> {
    const definition = await fetchDefinition(reader, run, hash);
    if (definition) known.set(hash, definition);
    return definition;
  }

  function fetchOnce(step: Step, hash: Hash): Promise<Definition | null> {
    const ahead = flights.get(hash);
    // The run asked first may be the one that does not know it; then this one is asked as well.
    if (ahead) return ahead.then((definition) => definition ?? fetch(step, hash));

    const fetching = fetch(step, hash).finally(() => flights.delete(hash));
    flights.set(hash, fetching);
    return fetching;
  }

  async function find(step: Step, hash: Hash): Promise<Definition> {
    const definition = known.get(hash) ?? (await untilAborted(fetchOnce(step, hash), step.signal));
    if (definition) return definition;
    const { workflowId, runId } = step.run;
    throw new CallFailure('DefinitionNotFound', `run ${runId} of ${workflowId} has no definition ${hash}`);
  }

  return {
    keep: (hash, definition) => void known.set(hash, definition),

    async get(step, hash, ...kinds) {
      const definition = await find(step, hash);
      if (isOneOf(definition, kinds)) return definition;
      const wanted = kinds.join(' or ');
      throw new CallFailure(
        'DefinitionInvalid',
        `definition ${hash} is of kind ${definition.kind}, not ${wanted}`,
      );
    },
  };
}

async function fetchDefinition(reader: RunReader, run: RunRef, hash: Hash): Promise<Definition | null> {
  let at = run;
  for (let referrals = 0; referrals <= referralsMax; referrals++) {
    const answer = await reader.definition(at, hash);
    if (answer === null) return null;
    if ('definition' in answer) return answer.definition;
    at = answer.at;
  }
  return null;
}

const isOneOf = <K extends Definition['kind']>(
  definition: Definition,
  kinds: readonly K[],
): definition is Extract<Definition, { readonly kind: K }> =>
  (kinds as readonly string[]).includes(definition.kind);
