import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { temporal } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { eventSinks } from './run-events.ts';
import { decisionsOf, type Decision } from './decisions.ts';
import { workflowBundle } from './workflow-bundle.ts';

export type History = temporal.api.history.v1.IHistory;

export interface Replayed {
  readonly workflowId: string;
  readonly events: number;
  readonly decisions: readonly Decision[];
  /** The runs of nested teams, to be replayed from histories of their own. */
  readonly nested: readonly { readonly workflowId: string; readonly runId: string }[];
  /** Where and why today's code decides otherwise than the history; absent where it decides the same. */
  readonly divergence?: string;
}

/**
 * Runs the installed workflow code against a history. Nothing is called and nothing changes: the answers come from the
 * history, and every decision of the code is compared with the one on record.
 */
export async function replay(
  history: History,
  workflowId: string,
  bundle: Promise<{ readonly codePath: string }> = workflowBundle(),
): Promise<Replayed> {
  const events = history.events ?? [];
  const { codePath } = await bundle;
  const divergence = await Worker.runReplayHistory(
    { workflowBundle: { codePath }, sinks: eventSinks(() => undefined) },
    history,
    workflowId,
  ).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const nested = events.flatMap(({ childWorkflowExecutionStartedEventAttributes: started }) => {
    const { workflowId: id, runId } = started?.workflowExecution ?? {};
    return id && runId ? [{ workflowId: id, runId }] : [];
  });
  return {
    workflowId,
    events: events.length,
    decisions: decisionsOf(events),
    nested,
    ...(divergence && { divergence }),
  };
}

/** Reads what `writeHistory`, the Web UI's download or `temporal workflow show --output json` wrote. */
export const parseHistory = (json: string): History => historyFromJSON(JSON.parse(json));

/** One event a line: histories are compared by people. */
export function writeHistory(history: History): string {
  const { events } = JSON.parse(historyToJSON(history)) as {
    events: unknown[];
  };
  return `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
}
