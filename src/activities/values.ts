import type { Access, Text, Value } from '../api/snapshot.ts';
import type { Step } from './context.ts';
import { during, isSecretError, secretFailure } from './failures.ts';
import type { Ports } from './ports.ts';

/** Turns what a definition says into what a call needs. What it reads from Secrets is noted in the step. */
export interface Values {
  text(value: Value): Promise<string>;
  /** Every value of a record; `what` names one of them, by its key, in errors. */
  record(
    values: Readonly<Record<string, Value>>,
    what: (key: string) => string,
  ): Promise<Readonly<Record<string, string>>>;
  headers(headers: NamedValues): Promise<readonly { readonly name: string; readonly value: string }[]>;
  /** Final text as it is; a template with its parameters filled in (contract section 4.1). */
  render(text: Text): Promise<string>;
}

type NamedValues = readonly { readonly name: string; readonly value: Value }[];

/** Reads with the rights of `access`: the Query's service account. */
export function createValues({ secrets, templates }: Ports, access: Access, step: Step): Values {
  async function text(value: Value): Promise<string> {
    if ('value' in value) return value.value;
    try {
      const secret = await secrets.read(value.secret, access, step.signal);
      step.secrets.add(secret);
      return secret;
    } catch (error) {
      throw isSecretError(error) ? secretFailure(error) : error;
    }
  }

  async function record(
    values: Readonly<Record<string, Value>>,
    what: (key: string) => string,
  ): Promise<Readonly<Record<string, string>>> {
    const resolved = Object.entries(values).map(
      async ([key, value]) => [key, await during(what(key), () => text(value))] as const,
    );
    return Object.fromEntries(await Promise.all(resolved));
  }

  const headers = (named: NamedValues) =>
    Promise.all(named.map(async ({ name, value }) => ({ name, value: await text(value) })));

  async function render(source: Text): Promise<string> {
    if ('text' in source) return source.text;
    const values = await during('failed to resolve parameters', () => record(source.parameters, parameter));
    return templates.render(source, values);
  }

  return { text, record, headers, render };
}

const parameter = (name: string): string => `failed to resolve parameter ${name}`;
