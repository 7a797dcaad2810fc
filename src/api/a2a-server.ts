/** An A2AServer: a server whose agent becomes an Agent (contract 1.11). */
import { z } from 'zod';
import { everyItem, isSet, rules } from './rules.ts';
import { Conditions, Duration, isSetHeader, ServerHeaders, ValueSource } from './values.ts';

const failed = (problem: string) => `validation failed: [${problem}]`;

const everyHeader = (holds: string, message: (header: string) => string) =>
  everyItem({
    list: 'self.headers',
    item: 'h',
    where: 'has(self.headers)',
    holds,
    message: (_, header) => `'validation failed: [' + ${message(header)} + ']'`,
  });

export const A2aServerSpec = z
  .object({
    address: ValueSource.describe('Where the server is; its card is below, at /.well-known/agent.json.'),
    headers: ServerHeaders.optional().describe('Sent with every request.'),
    description: z.string().optional(),
    pollInterval: Duration.default('1m').describe('How often its card is read; 0s for once.'),
  })
  .meta(
    rules(
      {
        rule: `${isSet('self.address', 'value')} || has(self.address.valueFrom)`,
        message: failed('address must specify either value or valueFrom'),
      },
      {
        rule: `!(${isSet('self.address', 'value')} && has(self.address.valueFrom))`,
        message: failed('address cannot specify both value and valueFrom'),
      },
      everyHeader(
        'self.headers.exists_one(other, other.name == h.name)',
        (header) => `'duplicate header name: ' + ${header}.name`,
      ),
      everyHeader(
        isSetHeader('h'),
        (header) => `'header ' + ${header}.name + ' must specify either value or valueFrom'`,
      ),
      everyHeader(
        `!(${isSet('h.value', 'value')} && has(h.value.valueFrom))`,
        (header) => `'header ' + ${header}.name + ' cannot specify both value and valueFrom'`,
      ),
      {
        rule: "!has(self.pollInterval) || !self.pollInterval.startsWith('-')",
        message: failed('pollInterval cannot be negative'),
      },
    ),
  );
export type A2aServerSpec = z.infer<typeof A2aServerSpec>;

export const A2aServerStatus = z.object({
  lastResolvedAddress: z.string().optional(),
  message: z.string().optional().describe('Why the last look at the server failed.'),
  conditions: Conditions.optional(),
});
export type A2aServerStatus = z.infer<typeof A2aServerStatus>;
