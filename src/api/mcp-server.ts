/** An MCPServer: a server whose tools become Tools (contract 1.7). */
import { z } from 'zod';
import { addressRules, everyItem, rules } from './rules.ts';
import { Conditions, Duration, isSetHeader, ServerHeaders, ValueSource } from './values.ts';

export const McpServerSpec = z
  .object({
    address: ValueSource.describe('Where the server is, with its path.'),
    transport: z.enum(['http', 'sse']).default('http').describe('http is MCP over streamable HTTP.'),
    headers: ServerHeaders.optional().describe('Sent with every request.'),
    timeout: z
      .string()
      .default('30s')
      .describe('For the connection; a call of a tool may take as long as the Query has.'),
    pollInterval: Duration.default('1m').describe('How often its tools are listed; 0s for once.'),
    description: z.string().optional(),
  })
  .meta(
    rules(
      ...addressRules,
      everyItem({
        list: 'self.headers',
        item: 'h',
        where: 'has(self.headers)',
        holds: isSetHeader('h'),
        message: (index, header) =>
          `'failed to validate header ' + ${header}.name + ' (index ' + ${index} + '): header value must specify either value or valueFrom.secretKeyRef'`,
      }),
      {
        rule: "!has(self.pollInterval) || !self.pollInterval.startsWith('-')",
        message: 'failed to validate pollInterval: pollInterval cannot be negative',
      },
    ),
  );
export type McpServerSpec = z.infer<typeof McpServerSpec>;

export const McpServerStatus = z.object({
  resolvedAddress: z.string().optional(),
  toolCount: z.int().optional(),
  message: z.string().optional().describe('Why the last look at the server failed.'),
  conditions: Conditions.optional(),
});
export type McpServerStatus = z.infer<typeof McpServerStatus>;
