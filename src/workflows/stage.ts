import { setHandler, workflowInfo } from '@temporalio/workflow';
import type { RunInput, RunLimits, TeamRunInput } from '../api/run.ts';
import type { Snapshot } from '../api/snapshot.ts';
import type { RunRef } from '../api/transcript.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { createLog, type Log } from './log.ts';
import { definitionQuery, transcriptQuery } from './messages.ts';

/** What every speaker of a run shares. */
export interface Stage {
  readonly snapshot: Snapshot;
  readonly limits: RunLimits;
  readonly log: Log;
  readonly ledger: Ledger;
  /** The turns of the runs above that led here, outermost first; empty in a Query's own run. */
  readonly path: readonly string[];
}

/** What a run's speakers share, with the run ready to answer what activities ask about it. */
export function openStage(input: RunInput | TeamRunInput): Stage {
  const { snapshot, limits, carried } = input;
  const log = createLog();
  const at = snapshot.definitionsAt;

  setHandler(transcriptQuery, (from, to) => log.page(from, to), {
    description: 'The messages of this run, by slot: what activities read that did not hear them themselves.',
  });
  setHandler(
    definitionQuery,
    (hash) => {
      const definition = snapshot.definitions[hash];
      if (definition) return { definition };
      return at ? { at } : null;
    },
    { description: 'A definition of this run (agent, model, tool, question) by its hash.' },
  );

  return { snapshot, limits, log, ledger: createLedger(carried), path: 'path' in input ? input.path : [] };
}

export function thisRun(): RunRef {
  const { workflowId, runId } = workflowInfo();
  return { workflowId, runId };
}
