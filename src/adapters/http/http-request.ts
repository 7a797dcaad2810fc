import type { Readable } from 'node:stream';

export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is sent once: a redirect that asks for it again is not followed. */
  readonly body?: string | Readable;
}

/** Undefined where the text is no http or https URL. */
export function httpUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
}

/** A URL as errors may name it: no credentials, no query values. */
export const shownUrl = (url: URL): string => url.origin + url.pathname;
