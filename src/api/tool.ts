/** A Tool: something an agent may call, over HTTP or MCP (contract 1.6). */
import { z } from 'zod';
import { rules } from './rules.ts';
import { Headers, JsonSchema, listMax, OnError, Ref, UsedParameter } from './values.ts';

const url = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^https?:\/\/.*/, 'must begin with http:// or https://')
  .describe('{name} stands for an argument of that name.');

const HttpTool = z.object({
  url,
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'PATCH']).default('GET'),
  headers: Headers.optional(),
  timeout: z
    .string()
    .regex(/^[0-9]+[smh]?$/, 'must be a number with s, m or h')
    .optional()
    .describe('30s if absent, or without a unit.'),
  body: z.string().optional().describe('Go template over .input, the arguments, and the bodyParameters.'),
  bodyParameters: z.array(UsedParameter).max(listMax.parameters).optional(),
});

const McpTool = z.object({ mcpServerRef: Ref, toolName: z.string().min(1) });

const isHttp = "self.type in ['http', 'fetcher']";

/** Only the block that is used: ARK does not look into the others. */
const hasValidUrl = (block: string, isUsed: string) => ({
  rule: `!(${isHttp} && ${isUsed}) || isURL(self.${block}.url)`,
  messageExpression: `'invalid URL format: ' + self.${block}.url`,
});

export const ToolSpec = z
  .object({
    type: z.enum(['http', 'mcp', 'fetcher']).describe('fetcher is an older spelling of http.'),
    description: z.string().optional().describe('What the model is told about this tool.'),
    inputSchema: JsonSchema.optional().describe('JSON schema of the arguments.'),
    annotations: z
      .object({
        title: z.string().optional(),
        readOnlyHint: z.boolean().optional(),
        destructiveHint: z.boolean().optional(),
        idempotentHint: z
          .boolean()
          .optional()
          .describe('False: a call that may have arrived is not sent again after a failure.'),
        openWorldHint: z.boolean().optional(),
      })
      .optional(),
    http: HttpTool.optional(),
    fetcher: HttpTool.optional().describe('Older spelling of http.'),
    mcp: McpTool.optional(),
    mcpServer: Ref.optional().describe('Another spelling of mcp.mcpServerRef.'),
    function: z.string().min(1).optional().describe('Another spelling of mcp.toolName.'),
    onError: OnError.optional().describe(
      'continue tells the model what went wrong; fail, which is meant if absent, ends the run.',
    ),
  })
  .meta(
    rules(
      {
        rule: `!(${isHttp}) || has(self.http) || has(self.fetcher)`,
        message: 'http spec is required for http type',
      },
      hasValidUrl('http', 'has(self.http)'),
      hasValidUrl('fetcher', '!has(self.http) && has(self.fetcher)'),
      {
        rule: "self.type != 'mcp' || has(self.mcp) || has(self.mcpServer)",
        message: 'MCP spec is required for mcp type',
      },
      {
        // `function` is a reserved word of CEL, hence the underscores.
        rule: "self.type != 'mcp' || has(self.mcp) || !has(self.mcpServer) || has(self.__function__)",
        message: 'MCP tool name is required',
      },
    ),
  );
export type ToolSpec = z.infer<typeof ToolSpec>;

export const ToolStatus = z.object({ state: z.string().optional(), message: z.string().optional() });
export type ToolStatus = z.infer<typeof ToolStatus>;
