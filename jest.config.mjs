/** Tests run as ES modules straight from TypeScript; types are checked by `npm run check`, not here. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  // A bound against hanging, not a measure: a busy machine is ten times slower than an idle one.
  testTimeout: 300_000,
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.cache/', '<rootDir>/.arkwright/'],
};
