import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';

const pollWithinMs = 30_000;
/** COMMAND_TYPE_START_TIMER and COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION of temporal.api.enums.v1. */
const startTimer = 3;
const completeWorkflow = 4;

/**
 * How long a workflow timer really takes, by the clock of the server: what it writes down for a worker that is nothing
 * but the raw calls.
 */
export async function measureTimerMs(address: string, timerMs: number): Promise<number> {
  const connection = await Connection.connect({ address });
  const { workflowService } = connection;
  const identity = 'measure-timer';
  const namespace = 'default';
  const taskQueue = { name: `timer-${randomUUID()}` };
  const completed = (taskToken: Uint8Array | null | undefined, command: object) =>
    workflowService.respondWorkflowTaskCompleted({
      namespace,
      identity,
      taskToken: taskToken!,
      commands: [command],
    });
  // The server refuses a poll without a deadline.
  const poll = () =>
    connection.withDeadline(Date.now() + pollWithinMs, () =>
      workflowService.pollWorkflowTaskQueue({ namespace, taskQueue, identity }),
    );
  try {
    const workflowId = taskQueue.name;
    const workflowType = { name: 'timer' };
    await workflowService.startWorkflowExecution({
      namespace,
      workflowId,
      workflowType,
      taskQueue,
      requestId: workflowId,
    });

    const first = await poll();
    await completed(first.taskToken, {
      commandType: startTimer,
      startTimerCommandAttributes: { timerId: '1', startToFireTimeout: { nanos: timerMs * 1e6 } },
    });
    const second = await poll();
    const times = (second.history?.events ?? []).flatMap(
      ({ timerStartedEventAttributes: began, timerFiredEventAttributes: fired, eventTime }) =>
        began || fired ? Number(eventTime?.seconds) * 1_000 + Number(eventTime?.nanos) / 1e6 : [],
    );

    await completed(second.taskToken, {
      commandType: completeWorkflow,
      completeWorkflowExecutionCommandAttributes: {},
    });
    const [beganMs = NaN, firedMs = NaN] = times;
    return firedMs - beganMs;
  } finally {
    await connection.close();
  }
}
