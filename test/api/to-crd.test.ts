import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { toStructural } from '../../src/api/to-crd.ts';

const generator = fileURLToPath(new URL('../../tools/generate-crds.ts', import.meta.url));

test('the committed CRDs are those of the schemas', async () => {
  // Rejects, with the names of the files, where the generator would write something else.
  const { stderr } = await promisify(execFile)(process.execPath, [generator, '--check']);
  expect(stderr).toBe('');
});

describe('what a structural schema cannot say is refused when the CRD is made', () => {
  test.each([
    ['a union', { anyOf: [{ type: 'string' }, { type: 'integer' }] }, 'spec.a: anyOf has no place in a CRD'],
    ['a reference', { $ref: '#/x' }, 'spec.a: $ref has no place in a CRD'],
    ['no type', {}, 'spec.a: a CRD needs a type here'],
    ['look-around', { type: 'string', pattern: '^(?!a)' }, 'spec.a: RE2 cannot compile the pattern'],
    ['a back-reference', { type: 'string', pattern: '(a)\\1' }, 'spec.a: RE2 cannot compile the pattern'],
    ['values of any type', { type: 'object', additionalProperties: {} }, 'spec.a.*: a CRD needs a type here'],
    ['items of any type', { type: 'array', items: {} }, 'spec.a[]: a CRD needs a type here'],
  ])('%s', (_, schema, message) => {
    expect(() => toStructural({ type: 'object', properties: { a: schema } }, 'spec')).toThrow(message);
  });
});
