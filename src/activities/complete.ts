import type { ModelReply } from '../api/run.ts';
import type { Step } from './context.ts';
import type { ChatRequest, Ports } from './ports.ts';

/** Asks a model, as long as the step has time; undefined where the model gave no choice. */
export const complete = (
  { models }: Ports,
  { signal, keys, timeLeftMs }: Step,
  request: ChatRequest,
): Promise<ModelReply | undefined> =>
  models.complete(request, { signal, idempotencyKey: keys.model, timeoutMs: timeLeftMs() });
