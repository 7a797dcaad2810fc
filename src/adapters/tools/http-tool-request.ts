import type { ResolvedHttpTool } from '../../activities/ports.ts';
import { queryEscape } from '../templates/go-escape.ts';
import { formatFloat } from '../templates/go-float.ts';
import { renderGoTemplate } from '../templates/render-go-template.ts';
import { TemplateError, TemplateOutputTooLargeError } from '../templates/template-error.ts';
import { RemoteError } from '../remote-error.ts';
import { httpUrl, type HttpRequest } from '../http/http-request.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** The request that uses a tool with these arguments (contract 4.8, rules 3 to 5); nothing has been sent yet. */
export function httpToolRequest(
  tool: ResolvedHttpTool,
  args: Arguments,
  idempotencyKey: string,
): HttpRequest {
  const body = bodyOf(tool, args);
  return {
    url: urlOf(tool.url, args),
    method: tool.method,
    headers: {
      'user-agent': 'arkwright',
      'idempotency-key': idempotencyKey,
      ...Object.fromEntries(tool.headers.map(({ name, value }) => [name.toLowerCase(), value])),
    },
    ...(body !== undefined && { body }),
  };
}

/** Every `{name}` of an argument is replaced, once; other placeholders stay. */
function urlOf(pattern: string, args: Arguments): URL {
  const text = pattern.replace(/\{([^{}]*)\}/g, (placeholder, name: string) =>
    Object.hasOwn(args, name) ? queryEscape(urlText(args[name])) : placeholder,
  );
  const url = httpUrl(text);
  if (url) return url;
  throw new RemoteError(
    'template',
    `failed to fetch URL: ${JSON.stringify(pattern.split('?')[0])} gives no http or https URL with the arguments of this call; correct spec.http.url of the Tool`,
    { sent: false },
  );
}

/** Numbers are plain decimals and objects JSON, as contract 4.8 recommends; ARK prints `1.234567e+06` and `map[k:1]`. */
function urlText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return (value < 0 ? '-' : '') + formatFloat(Math.abs(value), 'f', undefined);
  return value === null || value === undefined ? '<nil>' : JSON.stringify(value);
}

const methodsWithBody = new Set(['POST', 'PUT', 'PATCH']);

function bodyOf({ method, body, bodyParameters }: ResolvedHttpTool, args: Arguments): string | undefined {
  if (!body || !methodsWithBody.has(method)) return undefined;
  const data = { input: args, ...bodyParameters };
  try {
    return renderGoTemplate(body, data, { name: 'body', bareNames: new Set(Object.keys(data)) });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const problem =
      error.phase === 'parse' ? 'invalid template syntax in body' : 'body template execution failed';
    throw new RemoteError(
      error instanceof TemplateOutputTooLargeError ? 'too-large' : 'template',
      `failed to resolve body template: ${problem}: ${error.message}`,
      { sent: false },
    );
  }
}
