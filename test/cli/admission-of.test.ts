import { admissionOf } from '../../src/cli/controller.ts';

const settings = {
  webhook: 'service',
  webhookHost: undefined,
  webhookPort: 9443,
  webhookFailurePolicy: 'fail',
} as const;

afterEach(() => delete process.env['ENABLE_WEBHOOKS']);

test.each([
  [{}, { by: 'service', host: '0.0.0.0', port: 9443, failurePolicy: 'Fail' }],
  [{ webhook: 'url' }, { by: 'url', host: '127.0.0.1', port: 9443, failurePolicy: 'Fail' }],
  [{ webhookHost: '10.0.0.1' }, { by: 'service', host: '10.0.0.1', port: 9443, failurePolicy: 'Fail' }],
  [
    { webhookFailurePolicy: 'ignore' },
    { by: 'service', host: '0.0.0.0', port: 9443, failurePolicy: 'Ignore' },
  ],
  [{ webhook: 'off' }, undefined],
] as const)('with %j, the API server is told %j', (more, told) => {
  expect(admissionOf({ ...settings, ...more })).toEqual(told);
});

test('ARK’s own switch turns admission off', () => {
  process.env['ENABLE_WEBHOOKS'] = 'false';
  expect(admissionOf(settings)).toBeUndefined();
  process.env['ENABLE_WEBHOOKS'] = 'true';
  expect(admissionOf(settings)).toMatchObject({ by: 'service' });
});
