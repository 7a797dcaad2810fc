import fc from 'fast-check';
import { createObjectStore, vanishedMax } from '../../../src/adapters/kubernetes/object-store.ts';
import type { KubernetesObject } from '../../../src/adapters/kubernetes/objects.ts';
import { isNewer, keyOf, keyText, parseKey } from '../../../src/adapters/kubernetes/objects.ts';

interface Thing extends KubernetesObject<{ readonly colour: string }> {}

const thing = (name: string, uid: string, resourceVersion: string, colour = 'red'): Thing => ({
  metadata: { name, namespace: 'ns', uid, resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { colour },
});

function watchedStore() {
  const changes: string[] = [];
  const store = createObjectStore<Thing>({
    keepVanished: true,
    indexes: { colour: ({ spec }) => [spec?.colour ?? ''] },
    onChange: ({ name }, change) => changes.push(`${change} ${name}`),
  });
  return { store, changes };
}
const key = (name: string) => ({ namespace: 'ns', name });

test('an older form never replaces a newer one, whatever the order of their coming', () => {
  const { store, changes } = watchedStore();
  store.put(thing('a', 'u', '9'));
  store.absorb(thing('a', 'u', '10', 'blue'));
  store.put(thing('a', 'u', '9'));
  expect(store.get(key('a'))?.spec?.colour).toBe('blue');
  expect(changes).toEqual(['add a', 'update a']);
});

test('an answer that comes after the object went does not bring it back', () => {
  const { store } = watchedStore();
  store.put(thing('a', 'u', '1'));
  store.remove(thing('a', 'u', '3'));
  store.absorb(thing('a', 'u', '2'));
  expect(store.size).toBe(0);
});

test('a new object under an old name is a new object, and the old one is remembered', () => {
  const { store, changes } = watchedStore();
  store.put(thing('a', 'old', '1'));
  store.put(thing('a', 'new', '2'));
  store.remove(thing('a', 'old', '3'));
  expect(store.get(key('a'))?.metadata.uid).toBe('new');
  expect(store.vanished(key('a')).map(({ metadata }) => metadata.uid)).toEqual(['old']);
  expect(changes).toEqual(['add a', 'delete a', 'add a']);
});

test('remembers a bounded number of those that went, the latest', () => {
  const { store } = watchedStore();
  for (let n = 0; n <= vanishedMax; n++) {
    const one = thing(`n${n}`, `u${n}`, '1');
    store.put(one);
    store.remove(one);
  }
  expect(store.vanished(key('n0'))).toEqual([]);
  expect(store.vanished(key(`n${vanishedMax}`))).toHaveLength(1);
});

test('asked for an index it does not have, says which it has', () => {
  const { store } = watchedStore();
  expect(() => store.byIndex('size', 'big')).toThrow('there is no index size; there are: colour');
});

const name = fc.constantFrom('a', 'b', 'c');
const uid = fc.constantFrom('u', 'v');
const colour = fc.constantFrom('red', 'blue');
const event = fc.oneof(
  fc.record({ do: fc.constant('put' as const), name, uid, colour }),
  fc.record({ do: fc.constant('remove' as const), name, uid }),
  fc.record({ do: fc.constant('retain' as const), names: fc.uniqueArray(name) }),
);

test('after any events, the indexes and the keys handed out say what the store says', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const known = new Map<string, Thing>();
      const store = createObjectStore<Thing>({
        indexes: { colour: ({ spec }) => [spec?.colour ?? ''] },
        onChange(changed) {
          const now = store.get(changed);
          if (now) known.set(changed.name, now);
          else known.delete(changed.name);
        },
      });
      events.forEach((one, moment) => {
        if (one.do === 'put') store.put(thing(one.name, one.uid, String(moment + 1), one.colour));
        else if (one.do === 'remove') store.remove(thing(one.name, one.uid, String(moment + 1)));
        else store.retain(new Set(one.names.map((kept) => keyText(key(kept)))));
      });

      const all = [...store.values()];
      expect(new Set(known.values())).toEqual(new Set(all));
      for (const wanted of ['red', 'blue'])
        expect(new Set(store.byIndex('colour', wanted))).toEqual(
          new Set(all.filter(({ spec }) => spec?.colour === wanted)),
        );
    }),
  );
});

test('resourceVersions are compared as numbers of any length, and keys survive being text', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n }), fc.bigInt({ min: 0n }), (a, b) => {
      expect(isNewer(String(a), String(b))).toBe(a > b);
    }),
  );
  const one = thing('a', 'u', '1');
  expect(parseKey(keyText(keyOf(one)))).toEqual(keyOf(one));
  expect(parseKey(keyText({ namespace: '', name: 'x' }))).toEqual({ namespace: '', name: 'x' });
});
