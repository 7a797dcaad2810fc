import { startJournaledServer, type JournaledReply, type JournaledServer } from './journaled-server.ts';

/** Where the samples expect their MCP server. */
export const sampleMcpPort = 8767;

/** Of the protocol, unless the client asks for another: nothing here differs between its versions. */
const protocolVersion = '2025-06-18';

/**
 * The MCP server of the samples, at `/mcp` over streamable HTTP: `convert` (units) and `days_between` (dates). It keeps
 * no sessions, so that it may be restarted at any time.
 */
export async function startSampleMcp(options: { readonly port: number }): Promise<JournaledServer> {
  return startJournaledServer(({ method, path, body }) => {
    if (path !== '/mcp') return { status: 404 };
    // It sends nothing unasked and has no session to end.
    if (method !== 'POST') return { status: 405, headers: { allow: 'POST' } };

    const message = messageIn(body);
    if (!message) return json({ jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'no JSON' } });
    if (message.id === undefined) return { status: 202 };
    return json({ jsonrpc: '2.0', id: message.id, ...answer(message) });
  }, options);
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

function answer({ method = '', params = {} }: Message): object {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: params['protocolVersion'] ?? protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'samples', version: '1' },
        },
      };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: tools.map(faceOf) } };
    case 'tools/call':
      return called(String(params['name']), (params['arguments'] ?? {}) as Arguments);
    default:
      return { error: { code: -32_601, message: `there is no method ${method}` } };
  }
}

const faceOf = ({ name, description, inputSchema, annotations }: (typeof tools)[number]) => ({
  name,
  description,
  inputSchema,
  annotations,
});

type Arguments = Readonly<Record<string, unknown>>;

/** What a tool cannot do is its result, for the model to read. */
function called(name: string, args: Arguments): object {
  const tool = tools.find((one) => one.name === name);
  if (!tool) return { error: { code: -32_602, message: `there is no tool ${name}` } };
  const text = tool.run(args);
  return text === undefined
    ? {
        result: {
          content: [{ type: 'text', text: `these arguments make no sense to ${name}` }],
          isError: true,
        },
      }
    : { result: { content: [{ type: 'text', text }] } };
}

const factors: Readonly<Record<string, (value: number) => number>> = {
  'celsius fahrenheit': (value) => value * 1.8 + 32,
  'fahrenheit celsius': (value) => (value - 32) / 1.8,
  'kilometres miles': (value) => value / 1.609344,
  'miles kilometres': (value) => value * 1.609344,
};

const dayMs = 86_400_000;

const string = (description: string) => ({ type: 'string', description });

const tools = [
  {
    name: 'convert',
    description: 'Converts a temperature or a distance into another unit.',
    inputSchema: {
      type: 'object',
      properties: {
        value: { type: 'number', description: 'How much.' },
        from: string('celsius, fahrenheit, kilometres or miles'),
        to: string('celsius, fahrenheit, kilometres or miles'),
      },
      required: ['value', 'from', 'to'],
    },
    annotations: { readOnlyHint: true, idempotentHint: true },
    run({ value, from, to }: Arguments): string | undefined {
      const result = factors[`${String(from)} ${String(to)}`]?.(Number(value));
      return result === undefined || Number.isNaN(result)
        ? undefined
        : `${Math.round(result * 100) / 100} ${String(to)}`;
    },
  },
  {
    name: 'days_between',
    description: 'Counts the days from one date to another.',
    inputSchema: {
      type: 'object',
      properties: { from: string('A date such as 2026-01-31.'), to: string('A date such as 2026-12-24.') },
      required: ['from', 'to'],
    },
    annotations: { readOnlyHint: true, idempotentHint: true },
    run({ from, to }: Arguments): string | undefined {
      const days = (Date.parse(String(to)) - Date.parse(String(from))) / dayMs;
      return Number.isNaN(days) ? undefined : `${Math.round(days)} days`;
    },
  },
];

function messageIn(body: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(body);
    return typeof message === 'object' && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}

const json = (value: object): JournaledReply => ({ body: JSON.stringify(value) });
