import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import type { Kubectl } from './kubectl.ts';

/** What the samples' Model reads from the ConfigMap and the Secret `arkwright-model`. */
export interface ModelAccess {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

/** The real model, where the environment has a key for it: OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL. */
export function realModel(env: NodeJS.ProcessEnv = process.env): ModelAccess | undefined {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: model } = env;
  if (!apiKey) return undefined;
  return { apiKey, baseUrl: baseUrl || 'https://api.openai.com/v1', model: model || 'gpt-4o-mini' };
}

export const scriptedModelAccess = (baseUrl: string): ModelAccess => ({
  baseUrl,
  apiKey: 'none-needed',
  model: 'scripted',
});

/** Puts the Model `default` of samples/00-model.yaml, and what it reads, into the namespace `default`. */
export async function applySampleModel(
  kubectl: Kubectl,
  { baseUrl, apiKey, model }: ModelAccess,
): Promise<void> {
  const metadata = { name: 'arkwright-model', namespace: 'default' };
  const objects = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'base-url': baseUrl, model } },
    { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { 'api-key': apiKey } },
  ];
  const manifest = await readSample('00-model.yaml');
  const documents = [...objects.map((object) => stringify(object)), manifest];
  await kubectl(['apply', '--namespace', 'default', '-f', '-'], documents.join('---\n'));
}

/** A sample's manifest; `servers` says where those listen that are not at the port the sample names. */
export async function readSample(
  name: string,
  servers: Readonly<Record<number, string>> = {},
): Promise<string> {
  const manifest = await readFile(fileURLToPath(new URL(`../../samples/${name}`, import.meta.url)), 'utf8');
  return Object.entries(servers).reduce(
    (text, [port, url]) => text.replaceAll(`http://127.0.0.1:${port}`, url),
    manifest,
  );
}
