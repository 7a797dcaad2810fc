import type { Client } from '@temporalio/client';
import { SearchAttributeType, TypedSearchAttributes, defineSearchAttributeKey } from '@temporalio/common';
import type { Snapshot } from '../api/snapshot.ts';
import type { Logger } from '../adapters/telemetry/logger.ts';
import type { RunOwner } from './ports.ts';
import { isUnreachable } from './temporal-calls.ts';
import type { TemporalCalls } from './temporal-calls.ts';

const keys = {
  ArkNamespace: defineSearchAttributeKey('ArkNamespace', SearchAttributeType.KEYWORD),
  ArkQuery: defineSearchAttributeKey('ArkQuery', SearchAttributeType.KEYWORD),
  ArkTarget: defineSearchAttributeKey('ArkTarget', SearchAttributeType.KEYWORD),
};
type Name = keyof typeof keys;

/** Temporal's number for `Keyword`, in requests to its operator service. */
const keywordType = 2;
/** What the namespace knows is asked again after this long: somebody may have registered them by hand. */
const askAgainMs = 5 * 60_000;

/** Lists of runs can be filtered by these, where the namespace knows them; no run depends on them. */
export interface SearchAttributes {
  /** Registers them now, so that the first start need not wait for it. */
  prepare(): Promise<unknown>;
  /** What to start a run with; an attribute the namespace does not know would refuse the start. */
  of(query: RunOwner, snapshot: Snapshot): Promise<TypedSearchAttributes>;
  /** A start was refused because of them (a server may learn of new ones late): do without for some minutes. */
  avoid(): void;
}

/**
 * Registers the attributes on first use and keeps those that exist with the right type: registering one again under
 * another type is silently ignored by Temporal, so types are compared here. Refusals are logged once and cost nothing
 * but the filter; a Temporal that cannot be reached rejects, as the start after it would.
 */
export function registeredSearchAttributes(
  client: Client,
  calls: TemporalCalls,
  logger: Logger,
): SearchAttributes {
  let usable: Promise<readonly Name[]> | undefined;
  let knownUntilMs = 0;

  function usableNames(): Promise<readonly Name[]> {
    if (usable && Date.now() < knownUntilMs) return usable;
    knownUntilMs = Date.now() + askAgainMs;
    usable = register(client, calls, logger).catch((error: unknown) => {
      usable = undefined;
      throw error;
    });
    return usable;
  }

  return {
    prepare: usableNames,
    async of({ namespace, name }, { targets: [first] }) {
      const names = await usableNames();
      const values = {
        ArkNamespace: namespace,
        ArkQuery: name,
        ArkTarget: first ? `${first.type}/${first.name}` : 'none',
      };
      return new TypedSearchAttributes(
        names.map((attribute) => ({ key: keys[attribute], value: values[attribute] })),
      );
    },
    avoid() {
      usable = Promise.resolve([]);
      knownUntilMs = Date.now() + askAgainMs;
    },
  };
}

async function register(client: Client, { call }: TemporalCalls, logger: Logger): Promise<readonly Name[]> {
  const { namespace } = client.options;
  const names = Object.keys(keys) as Name[];
  const operator = client.connection.operatorService;
  try {
    const before = await call(() => operator.listSearchAttributes({ namespace }));
    const absent = names.filter((name) => before.customAttributes[name] === undefined);
    if (absent.length > 0) {
      const searchAttributes = Object.fromEntries(absent.map((name) => [name, keywordType]));
      await call(() => operator.addSearchAttributes({ namespace, searchAttributes }));
    }
    const after = absent.length > 0 ? await call(() => operator.listSearchAttributes({ namespace })) : before;
    const usable = names.filter((name) => (after.customAttributes[name] as number) === keywordType);
    if (usable.length < names.length) {
      const others = names.filter((name) => !usable.includes(name));
      logger.warn(
        { others, namespace },
        'runs start without these search attributes: Temporal has them not, or with another type',
      );
    }
    return usable;
  } catch (error) {
    if (isUnreachable(error)) throw error;
    logger.warn(
      { err: error, namespace },
      `runs start without search attributes: Temporal refused to list or register ${names.join(', ')} (type Keyword); register them by hand to filter runs by them`,
    );
    return [];
  }
}
