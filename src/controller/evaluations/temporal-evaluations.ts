import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import type { EvaluatorReply, Failure } from '../../api/run.ts';
import { isUnknownWorkflow } from '../temporal-calls.ts';
import type { TemporalCalls } from '../temporal-calls.ts';
import { absentIfUnknown, endFrom } from '../temporal-runs.ts';
import type { EvaluationOwner, EvaluationRun, EvaluationRuns } from './ports.ts';

/** The type under which the worker registers the workflow of an Evaluation. */
const workflowType = 'evaluationWorkflow';
/** Over `spec.timeout`, so that only a run without any worker ever meets it. */
const executionSpareMs = 24 * 3_600_000;
const nameLengthMax = 120;

/** The runs of Evaluations, spoken to one call at a time. */
export function temporalEvaluations(
  client: Client,
  { taskQueue, calls: { call } }: { readonly taskQueue: string; readonly calls: TemporalCalls },
): EvaluationRuns {
  async function look(evaluation: EvaluationOwner): Promise<EvaluationRun> {
    const handle = client.workflow.getHandle(workflowIdOf(evaluation));
    const seen = await call(() => handle.describe()).catch(absentIfUnknown);
    if (!seen) return { state: 'absent' };

    const { startTime: startedAt, closeTime: closedAt } = seen;
    if (!closedAt) return { state: 'open', startedAt };
    return { state: 'closed', startedAt, closedAt, end: await call(() => endOf(evaluation)) };
  }

  async function endOf(evaluation: EvaluationOwner): Promise<EvaluatorReply | Failure> {
    try {
      return (await client.workflow.getHandle(workflowIdOf(evaluation)).result()) as EvaluatorReply;
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return endFrom(error.cause).failure ?? unexplained;
    }
  }

  return {
    look,

    async start(evaluation, input) {
      const { namespace, name, uid } = evaluation;
      try {
        await call(() =>
          client.workflow.start(workflowType, {
            workflowId: workflowIdOf(evaluation),
            taskQueue,
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
            workflowIdConflictPolicy: 'FAIL',
            args: [input],
            staticSummary: `evaluation · ${input.evaluator}`.slice(0, 200),
            memo: {
              evaluation: {
                apiVersion: 'ark.mckinsey.com/v1alpha1',
                kind: 'Evaluation',
                namespace,
                name,
                uid,
              },
            },
            workflowExecutionTimeout: input.timeoutMs + executionSpareMs,
          }),
        );
        return { state: 'open', startedAt: new Date() };
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
      return look(evaluation);
    },

    async cancel(evaluation) {
      await call(() =>
        client.workflowService.requestCancelWorkflowExecution({
          namespace: client.options.namespace,
          identity: client.options.identity,
          workflowExecution: { workflowId: workflowIdOf(evaluation) },
          requestId: `cancel:${evaluation.uid}`,
          reason: 'its Evaluation was deleted',
        }),
      ).catch((error: unknown) => {
        if (!isUnknownWorkflow(error)) throw error;
      });
    },
  };
}

const workflowIdOf = ({ namespace, name, uid }: EvaluationOwner): string =>
  `evaluation:${namespace}:${name.slice(0, nameLengthMax)}:${uid}`;

const unexplained: Failure = { type: 'InternalError', message: 'the run failed without giving a reason' };
