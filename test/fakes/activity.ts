import { asyncLocalStorage, Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { CancelledFailure, defaultPayloadConverter, noopMetricMeter } from '@temporalio/common';
import type { DefinitionAnswer, TranscriptPage } from '../../src/api/run.ts';
import type { Definition, Hash } from '../../src/api/snapshot.ts';
import type { Message, RunRef } from '../../src/api/transcript.ts';

/** A run as activities see it: it answers the two queries of a workflow and counts them. */
export interface FakeRun {
  readonly ref: RunRef;
  readonly slots: (readonly Message[])[];
  readonly definitions: Record<Hash, Definition | RunRef>;
}

export function fakeRun(runId: string, said: readonly Message[] = []): FakeRun {
  return {
    ref: { workflowId: `query:${runId}`, runId },
    slots: said.map((message) => [message]),
    definitions: {},
  };
}

/** Runs that answer as the workflows do; every query is written down. `failing` is asked before each answer. */
export class FakeRuns {
  readonly queries: string[] = [];
  readonly runs: readonly FakeRun[];
  slotsPerPage = 100;
  failing: () => Error | undefined = () => undefined;

  constructor(...runs: readonly FakeRun[]) {
    this.runs = runs;
  }

  /** The part of Temporal's client that activities use; answers go through JSON, as they would. */
  client(): Client {
    const workflow = {
      getHandle: (workflowId: string, runId: string) => ({
        query: async (name: string, ...args: unknown[]) => {
          this.queries.push(`${name} ${[runId, ...args].join(' ')}`);
          await new Promise(setImmediate);
          const failure = this.failing();
          if (failure) throw failure;
          const run = this.runs.find(({ ref }) => ref.runId === runId && ref.workflowId === workflowId);
          if (!run) throw new Error(`workflow ${workflowId} not found`);
          return JSON.parse(JSON.stringify(this.#answer(run, name, args)));
        },
      }),
    };
    return { workflow, withDeadline: (_: number, ask: () => Promise<unknown>) => ask() } as unknown as Client;
  }

  #answer(run: FakeRun, name: string, args: unknown[]): TranscriptPage | DefinitionAnswer {
    if (name === 'definition') {
      const found = run.definitions[args[0] as Hash];
      if (!found) return null;
      return 'kind' in found ? { definition: found } : { at: found };
    }
    const [from, to] = args as [number, number];
    return { from, slots: run.slots.slice(from, Math.min(to, from + this.slotsPerPage)) };
  }
}

export interface Attempt {
  readonly run: RunRef;
  readonly runs: FakeRuns;
  readonly activityId?: string;
  readonly attempt?: number;
  readonly heartbeatDetails?: unknown;
  readonly signal?: AbortSignal;
  readonly heartbeat?: (details?: unknown) => void;
}

/** Runs an activity in the context a worker would give it. */
export function inActivity<R>(attempt: Attempt, activity: () => Promise<R>): Promise<R> {
  const signal = attempt.signal ?? new AbortController().signal;
  const info = {
    activityId: attempt.activityId ?? 't001.bot.model.1',
    attempt: attempt.attempt ?? 1,
    heartbeatDetails: attempt.heartbeatDetails,
    heartbeatTimeoutMs: 10_000,
    startToCloseTimeoutMs: 600_000,
    workflowExecution: attempt.run,
  } as Context['info'];
  const context = new Context(
    info,
    new Promise<never>(() => undefined),
    signal,
    attempt.heartbeat ?? (() => undefined),
    attempt.runs.client(),
    console,
    noopMetricMeter,
    {},
  );
  return asyncLocalStorage.run(context, activity);
}

export const cancellation = () => new CancelledFailure('CANCELLED');

/** How many bytes a value takes as the result of an activity. */
export const bytesOf = (value: unknown): number => defaultPayloadConverter.toPayload(value).data?.length ?? 0;
