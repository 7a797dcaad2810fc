import type { ModelStatus } from '../../api/model.ts';
import type { ModelDefinition, Value } from '../../api/snapshot.ts';
import type { Next, ObjectKey } from '../ports.ts';
import { contentHash } from '../snapshot/content-hash.ts';
import { defineModel } from '../snapshot/define-model.ts';
import type { Definitions } from '../snapshot/definitions.ts';
import { Unbuildable } from '../snapshot/unbuildable.ts';
import { backOffMs, recheckMs } from './back-off.ts';
import { inClear, type Clear } from './clear-values.ts';
import { fitToShow } from './fit-to-show.ts';
import type { ModelPorts, SeenObject, Values } from './ports.ts';
import { secondsOf } from './report.ts';

/** Contract 3.5. */
const probeTimeoutMs = 30_000;
const probeMessages = [{ role: 'user', content: 'Hello' }] as const;

/**
 * Keeps `status` at whether the Model answers (contract 3.5): it is asked once, and again only when what it was asked
 * with has changed (its spec, or what that refers to, which is read every minute), or after a failure, ever later. What
 * was asked and how often it failed is in `status.probe`, so a new process does not ask again.
 */
export async function reconcileModel(key: ObjectKey, ports: ModelPorts<ModelStatus>): Promise<Next> {
  const { objects, values, now } = ports;
  const model = objects.get(key);
  if (!model) return 'settled';

  const found = await questionOf(model, values);
  if (typeof found === 'string') {
    await objects.writeStatus(model, { ...model.status, phase: 'error', message: found });
    return { requeueAfterMs: recheckMs };
  }

  const { probe } = model.status;
  const resolvedAddress = found.address;
  const isKnown = probe?.hash === found.hash;
  const failuresBefore = (isKnown && probe.failures) || 0;
  if (isKnown && failuresBefore === 0) {
    await objects.writeStatus(model, { phase: 'ready', resolvedAddress, probe });
    return { requeueAfterMs: recheckMs };
  }
  const dueMs = isKnown ? Date.parse(probe.time ?? '') + backOffMs(failuresBefore) - now().getTime() : 0;
  if (dueMs > 0) return { requeueAfterMs: Math.min(dueMs, recheckMs) };

  // A Model that failed is in error until it answers: a phase that comes and goes tells nothing.
  if (!isKnown) await objects.writeStatus(model, { phase: 'running', resolvedAddress });
  const problem = await ask(model, found, failuresBefore, ports);
  const failures = problem === undefined ? 0 : failuresBefore + 1;
  await objects.writeStatus(model, {
    phase: problem === undefined ? 'ready' : 'error',
    message: problem,
    resolvedAddress,
    probe: { hash: found.hash, time: secondsOf(now()), failures },
  });
  return { requeueAfterMs: failures === 0 ? recheckMs : Math.min(backOffMs(failures), recheckMs) };
}

interface Question {
  readonly endpoint: Parameters<ModelPorts<ModelStatus>['complete']>[0]['endpoint'];
  /** Names the question: two that could be answered differently have two. */
  readonly hash: string;
  /** Absent where it comes from a Secret. */
  readonly address: string | undefined;
  readonly secrets: readonly string[];
}

/** What a probe would ask, or why there is nothing to ask. Properties are not sent, but have to be there. */
async function questionOf(model: SeenObject<ModelStatus>, values: Values): Promise<Question | string> {
  try {
    const definition = await defineModel(model, definitionsOf(model, values));
    return await inFull(definition, values);
  } catch (error) {
    if (!(error instanceof Unbuildable)) throw error;
    return error.message;
  }
}

/** A key that stands in the spec is a secret nonetheless. */
const credentials = ['apiKey', 'accessKeyId', 'secretAccessKey', 'sessionToken'];

/** Bedrock is asked with its properties, the others without (contract 3.5). */
async function inFull(definition: ModelDefinition, values: Values): Promise<Question> {
  const { type, namespace, name, properties, ...rest } = definition;
  const settings = Object.entries(rest).filter(([, value]) => !isValue(value));
  const [fields, sent] = await Promise.all([
    allInClear(Object.entries(rest).filter(isField), values),
    allInClear(type === 'bedrock' ? Object.entries(properties) : [], values),
  ]);
  const used = [...fields, ...sent];
  const baseUrl = fields.find(([field]) => field === 'baseUrl')?.[1];
  const plain = (all: readonly NamedClear[]) =>
    Object.fromEntries(all.map(([field, { value }]) => [field, value]));
  return {
    endpoint: {
      ...Object.fromEntries(settings),
      ...plain(fields),
      type,
      namespace,
      name,
      properties: plain(sent),
    } as Question['endpoint'],
    hash: contentHash([type, settings, used.map(([field, { print }]) => [field, print])]),
    address: baseUrl && !baseUrl.isSecret ? baseUrl.value : undefined,
    secrets: used
      .filter(([field, { isSecret }]) => isSecret || credentials.includes(field))
      .map(([, { value }]) => value),
  };
}

type NamedClear = readonly [field: string, clear: Clear];

const allInClear = (
  fields: readonly (readonly [string, Value])[],
  values: Values,
): Promise<readonly NamedClear[]> =>
  Promise.all(fields.map(async ([field, value]) => [field, await inClear(value, values)] as const));

const isValue = (value: unknown): value is Value => typeof value === 'object';
const isField = (entry: [string, unknown]): entry is [string, Value] => isValue(entry[1]);

/** Why the Model did not answer; undefined if it did. */
async function ask(
  model: SeenObject<ModelStatus>,
  { endpoint, hash, secrets }: Question,
  attempt: number,
  { complete, stopping }: ModelPorts<ModelStatus>,
): Promise<string | undefined> {
  const deadline = AbortSignal.timeout(probeTimeoutMs);
  try {
    const reply = await complete(
      { endpoint, messages: probeMessages, tools: [] },
      {
        signal: AbortSignal.any([stopping, deadline]),
        timeoutMs: probeTimeoutMs,
        idempotencyKey: `probe-${model.uid}-${hash}-${attempt}`,
      },
    );
    return reply ? undefined : 'model returned no completion choices';
  } catch (error) {
    // Nobody waits any more: nothing is known of the Model.
    stopping.throwIfAborted();
    if (deadline.aborted) return `the model did not answer within ${probeTimeoutMs / 1_000} s`;
    return fitToShow(error instanceof Error ? error.message : String(error), secrets);
  }
}

/** The Model as it was seen, and its values with the controller's own rights. */
function definitionsOf({ namespace, name, spec }: SeenObject<ModelStatus>, values: Values): Definitions {
  return {
    ...values,
    get: async () => ({ namespace, name, labels: {}, annotations: {}, spec }),
    list: async () => [],
  };
}
