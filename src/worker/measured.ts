import type { KnownError, Ports } from '../activities/ports.ts';
import type { WorkerMetrics } from '../adapters/telemetry/metrics.ts';

/** The same ports, with every call to a model or a tool counted and timed. */
export const measured = (metrics: WorkerMetrics, ports: Ports): Ports => ({
  ...ports,
  models: {
    async complete(request, options) {
      const reply = await timed(metrics.modelCalls, metrics.modelCallSeconds, () =>
        ports.models.complete(request, options),
      );
      metrics.tokens.inc({ kind: 'prompt' }, reply?.usage?.promptTokens ?? 0);
      metrics.tokens.inc({ kind: 'completion' }, reply?.usage?.completionTokens ?? 0);
      return reply;
    },
  },
  mcp: {
    call: (server, tool, args, options) =>
      timed(metrics.toolCalls, metrics.toolCallSeconds, () => ports.mcp.call(server, tool, args, options)),
  },
  httpTools: {
    call: (tool, args, options) =>
      timed(metrics.toolCalls, metrics.toolCallSeconds, () => ports.httpTools.call(tool, args, options)),
  },
});

async function timed<R>(
  calls: WorkerMetrics['modelCalls'],
  seconds: WorkerMetrics['modelCallSeconds'],
  call: () => Promise<R>,
): Promise<R> {
  const stop = seconds.startTimer();
  try {
    const result = await call();
    calls.inc({ outcome: 'ok' });
    return result;
  } catch (error) {
    // A tool's error has a kind where a model's has one of our names; both are short lists.
    const { type, kind } = error as Partial<KnownError> & { readonly kind?: string };
    calls.inc({ outcome: type ?? kind ?? 'error' });
    throw error;
  } finally {
    stop();
  }
}
