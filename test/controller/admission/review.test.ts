import { review } from '../../../src/controller/admission/review.ts';
import type { Reader } from '../../../src/controller/admission/ports.ts';
import { readFrom, stuck } from './shelf.ts';

const shelf = readFrom({ objects: { 'models ns/default': {} }, broken: ['tools ns/stuck'] });
const bad = { modelRef: { name: 'none' } };
const good = {};

interface Change {
  readonly kind?: string;
  readonly group?: string;
  readonly operation?: string;
  readonly from?: object;
  readonly to?: object | null;
  readonly metadata?: object;
}

const requestOf = ({
  kind = 'Agent',
  group = 'ark.mckinsey.com',
  from,
  to = bad,
  metadata,
  operation,
}: Change) => {
  const object = (spec: object) => ({ metadata: { name: 'ann', ...metadata }, spec });
  return {
    request: {
      uid: 'u-1',
      kind: { group, kind },
      operation: operation ?? (from ? 'UPDATE' : 'CREATE'),
      namespace: 'ns',
      object: to && object(to),
      oldObject: from && object(from),
    },
  } as Parameters<typeof review>[0];
};

const answerTo = async (change: Change, reader: Reader = shelf, withinMs?: number) =>
  (await review(requestOf(change), { reader: () => reader, ...(withinMs !== undefined && { withinMs }) }))
    .response;

test.each<[string, Change]>([
  ['a good object', { to: good }],
  ['a change from bad to good', { from: bad, to: good }],
  ['an update of a bad object that leaves its spec alone', { from: bad, metadata: { labels: { a: 'b' } } }],
  [
    'a bad object that is being deleted',
    { from: good, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
  ],
  ['a deletion', { operation: 'DELETE', to: null }],
])('%s passes', async (_, change) => {
  expect(await answerTo(change)).toEqual({ uid: 'u-1', allowed: true });
});

test.each<[string, Change]>([
  ['a bad object', {}],
  ['a change from good to bad', { from: good }],
])('%s is refused', async (_, change) => {
  expect(await answerTo(change)).toEqual({
    uid: 'u-1',
    allowed: false,
    status: {
      code: 403,
      reason: 'Forbidden',
      message: 'model none not found in namespace ns: models.ark.mckinsey.com "none" not found',
    },
  });
});

test.each<[string, Change]>([
  ['Memory', { kind: 'Memory' }],
  ['Novelty', { kind: 'Novelty' }],
  ['Agent', { group: 'example.com' }],
])('a %s that there are no rules for passes, with a warning', async (kind, change) => {
  expect(await answerTo(change)).toEqual({
    uid: 'u-1',
    allowed: true,
    warnings: [`Arkwright has no rules for a ${kind}`],
  });
});

test('what cannot be read refuses, and says that trying again may help', async () => {
  expect(await answerTo({ to: { tools: [{ type: 'custom', name: 'stuck' }] } })).toMatchObject({
    allowed: false,
    status: {
      code: 500,
      message: `cannot check this Agent: failed to get tool 'stuck' in namespace 'ns': ${stuck}; try again`,
    },
  });
});

test('what never answers refuses in time, and is told to give up', async () => {
  let given: AbortSignal | undefined;
  const { response } = await review(requestOf({}), {
    withinMs: 20,
    reader: (signal) => {
      given = signal;
      return { ...shelf, get: () => new Promise(() => {}) };
    },
  });
  expect(response.status).toEqual({
    code: 500,
    reason: 'InternalError',
    message: 'cannot check this Agent: what it refers to could not be read within 0.02 s; try again',
  });
  expect(given?.aborted).toBe(true);
});
