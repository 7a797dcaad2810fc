import fc from 'fast-check';
import { mergePatch } from '../../src/controller/merge-patch.ts';

/** RFC 7386, as the API server applies it. */
function applied(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else result[field] = applied(result[field], value);
  }
  return result;
}

const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.integer()));
const { tree } = fc.letrec<{ tree: Record<string, unknown>; node: unknown }>((tie) => ({
  tree: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('node'), { maxKeys: 4 }),
  node: fc.oneof({ maxDepth: 3 }, leaf, tie('tree')),
}));

test('a patch turns one object into the other, and there is none between equal ones', () => {
  fc.assert(
    fc.property(tree, tree, (from, to) => {
      const patch = mergePatch(from, to);
      expect(patch ? applied(from, patch) : from).toEqual(to);
      expect(mergePatch(to, to)).toBeUndefined();
    }),
  );
});
