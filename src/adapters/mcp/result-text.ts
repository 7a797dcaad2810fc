import type { CallToolResult } from '@modelcontextprotocol/client';
import { readCapped } from '../http/read-capped.ts';

/**
 * What a tool said, as one text (contract section 4.10): text parts as they are, without separator, others as JSON.
 * Structured content repeats what the parts say, so it counts only where there are none. At most 1 MiB.
 */
export async function resultText({ content, structuredContent }: CallToolResult): Promise<string> {
  const parts = content.map((part) => (part.type === 'text' ? part.text : pretty(part)));
  const text = parts.length === 0 && structuredContent ? pretty(structuredContent) : parts.join('');
  return readCapped(ReadableStream.from([Buffer.from(text)]));
}

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
