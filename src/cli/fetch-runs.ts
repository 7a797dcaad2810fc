import type { Client } from '@temporalio/client';
import type { History } from '../worker/replay.ts';

/** A chain longer than this, or a team nested wider, is shown from its end and up to here. */
const runsMax = 200;

/**
 * The histories of a run in the order in which they began: the runs it was continued from, itself, then those of its
 * nested teams. Rejects where Temporal knows no such run (any more).
 */
export async function* fetchRuns(
  client: Client,
  workflowId: string,
): AsyncGenerator<{ readonly workflowId: string; readonly history: History }> {
  const waiting: { workflowId: string; runId?: string }[] = [{ workflowId }];

  for (let shown = 0; shown < runsMax;) {
    const next = waiting.shift();
    if (!next) return;

    for (const history of await chainOf(client, next, runsMax - shown)) {
      shown++;
      yield { workflowId: next.workflowId, history };
      waiting.push(...nestedIn(history));
    }
  }
}

async function chainOf(
  client: Client,
  last: { readonly workflowId: string; readonly runId?: string },
  lengthMax: number,
): Promise<History[]> {
  const chain: History[] = [];
  for (let runId = last.runId; chain.length < lengthMax;) {
    const history = await client.workflow.getHandle(last.workflowId, runId).fetchHistory();
    chain.unshift(history);
    runId =
      history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
    if (!runId) break;
  }
  return chain;
}

function nestedIn(history: History): { workflowId: string; runId: string }[] {
  return (history.events ?? []).flatMap(({ childWorkflowExecutionStartedEventAttributes: started }) => {
    const { workflowId, runId } = started?.workflowExecution ?? {};
    return workflowId && runId ? [{ workflowId, runId }] : [];
  });
}
