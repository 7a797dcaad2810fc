import { createHash } from 'node:crypto';
import { createContext, Script } from 'node:vm';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import type { OutputPort } from '../../activities/ports.ts';
import type { JsonSchema } from '../../api/snapshot.ts';

const schemasMax = 256;
const schemaCharactersMax = 256 * 1024;
const answerBytesMax = 1024 * 1024;
const judgingTimeoutMs = 1_000;
const problemsMax = 10;
const problemCharactersMax = 1_000;

/** `unusable` where the schema cannot be compiled: then nothing can be said about any answer. */
type Judge = ValidateFunction | 'unusable';

/**
 * Judges answers by JSON schemas: of draft-07 where `$schema` names it or an older one, else of 2020-12. Compiled
 * schemas are kept, the latest `schemasMax` of them. An answer may stand in a Markdown fence.
 */
export function createOutputs(): OutputPort {
  const judges = new LRUCache<string, Judge>({ max: schemasMax });

  function judgeOf(schema: JsonSchema): Judge {
    const text = JSON.stringify(schema);
    const hash = createHash('sha256').update(text).digest('base64');
    const judge = judges.get(hash) ?? (text.length > schemaCharactersMax ? 'unusable' : compile(schema));
    judges.set(hash, judge);
    return judge;
  }

  async function problem(schema: JsonSchema, answer: string): Promise<string | undefined> {
    const judge = judgeOf(schema);
    if (judge === 'unusable') return undefined;
    if (Buffer.byteLength(answer) > answerBytesMax) return 'The answer is larger than 1 MiB.';

    const value = valueIn(answer);
    if ('problem' in value) return value.problem;
    const errors = errorsOf(judge, value.json);
    return errors.length === 0 ? undefined : inWords(errors);
  }

  return { problem };
}

const options: Options = { strict: false, allErrors: true, logger: false };

/** A new one for each schema: one that gives itself an `$id` must not be in the way of another. */
function compile(schema: JsonSchema): Judge {
  const isOlder = /draft-0[4-7]/.test(String(schema['$schema']));
  const ajv = isOlder ? new Ajv(options) : new Ajv2020(options);
  const { $schema: _, ...rest } = schema;
  try {
    formats.default(ajv);
    return ajv.compile(rest);
  } catch {
    return 'unusable';
  }
}

const court = createContext({ judge: undefined, value: undefined });
const judging = new Script('judge(value)');

/** None where judging takes too long: a pattern can be written so that no text of some length is ever decided. */
function errorsOf(judge: ValidateFunction, value: unknown): readonly ErrorObject[] {
  Object.assign(court, { judge, value });
  try {
    return judging.runInContext(court, { timeout: judgingTimeoutMs }) === true ? [] : (judge.errors ?? []);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return [];
    throw error;
  } finally {
    Object.assign(court, { judge: undefined, value: undefined });
  }
}

const fence = /^```[\w-]*\s*\n([\s\S]*?)\n?\s*```$/;

function valueIn(answer: string): { readonly json: unknown } | { readonly problem: string } {
  const text = answer.trim();
  try {
    return { json: JSON.parse(fence.exec(text)?.[1] ?? text) };
  } catch (error) {
    return { problem: cut(`The answer is not JSON: ${(error as Error).message}.`) };
  }
}

/** `/days/0/c: must be number; must have required property 'city'`: where, and what is wrong there. */
function inWords(errors: readonly ErrorObject[]): string {
  const problems = [...new Set(errors.map(problemOf))];
  const rest = problems.length - problemsMax;
  const shown = problems.slice(0, problemsMax).join('; ');
  return cut(
    `The answer does not have the shape asked for: ${shown}${rest > 0 ? `; and ${rest} more` : ''}.`,
  );
}

function problemOf({ instancePath, message = 'is wrong', params }: ErrorObject): string {
  const where = instancePath === '' ? '' : `${instancePath}: `;
  const { additionalProperty, allowedValues } = params as {
    additionalProperty?: string;
    allowedValues?: readonly unknown[];
  };
  if (additionalProperty !== undefined) return `${where}must NOT have the property '${additionalProperty}'`;
  return (
    where + message + (allowedValues ? `: ${allowedValues.map((one) => JSON.stringify(one)).join(', ')}` : '')
  );
}

const cut = (text: string): string =>
  text.length <= problemCharactersMax ? text : `${text.slice(0, problemCharactersMax - 1)}…`;
