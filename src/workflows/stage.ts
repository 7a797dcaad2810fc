import { setHandler, workflowInfo } from '@temporalio/workflow';
import type { ModelCall, RunInput, RunLimits, TeamRunInput } from '../api/run.ts';
import type { Snapshot, TargetPlan } from '../api/snapshot.ts';
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
  /** Where, and for which target, model calls write their answers while they come. */
  readonly stream?: ModelCall['stream'];
  /** As `Question.target`. */
  readonly target?: number;
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

  const every = { snapshot, limits, log, ledger: createLedger(carried) };
  if (!('path' in input)) return { ...every, path: [] };
  const { path, stream, target } = input;
  return { ...every, path, stream, target };
}

/** The same stage, where calls say for which target they are made. */
export function forTarget(stage: Stage, target: TargetPlan): Stage {
  const { stream, targets } = stage.snapshot;
  const place = targets.indexOf(target);
  const asked = { ...stage, target: place > 0 ? place : undefined };
  if (stream === undefined) return asked;
  return { ...asked, stream: { definition: stream, target: `${target.type}/${target.name}` } };
}

export function thisRun(): RunRef {
  const { workflowId, runId } = workflowInfo();
  return { workflowId, runId };
}
