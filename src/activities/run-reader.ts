import type { Client } from '@temporalio/client';
import type { DefinitionAnswer, TranscriptPage } from '../api/run.ts';
import type { RunRef } from '../api/transcript.ts';
import { CallFailure } from './failures.ts';
import type { RunReader } from './ports.ts';

/** Without it, a query of a run whose workflow task keeps failing hangs for 30 s. */
const deadlineMs = 5_000;

/** Asks runs through the worker's own connection. A run that does not answer in time may answer the next attempt. */
export function createRunReader(client: Pick<Client, 'withDeadline' | 'workflow'>): RunReader {
  const ask = async <Answer>(
    { workflowId, runId }: RunRef,
    query: string,
    args: unknown[],
  ): Promise<Answer> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.getHandle(workflowId, runId).query<Answer, unknown[]>(query, ...args),
      );
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new CallFailure(
        'TranscriptUnavailable',
        `run ${runId} of ${workflowId} did not answer the query ${query}(${args.join(', ')}): ${why}`,
      );
    }
  };

  return {
    transcript: (run, from, to) => ask<TranscriptPage>(run, 'transcript', [from, to]),
    definition: (run, hash) => ask<DefinitionAnswer>(run, 'definition', [hash]),
  };
}
