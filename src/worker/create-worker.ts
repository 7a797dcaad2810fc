import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from '../activities/create-activities.ts';
import { eventSinks } from './run-events.ts';
import { workflowBundle } from './workflow-bundle.ts';

/**
 * A worker for runs and their calls, with the settings that were measured to matter (docs/performance.md).
 * `options` adds to them or overrides them.
 */
export async function createWorker(
  connection: NativeConnection,
  activities: Activities,
  options: Pick<WorkerOptions, 'namespace' | 'taskQueue'> & Partial<WorkerOptions>,
): Promise<Worker> {
  const { codePath, buildId } = await workflowBundle();
  return Worker.create({
    connection,
    activities,
    workflowBundle: { codePath },
    workerDeploymentOptions: {
      version: { deploymentName: 'arkwright', buildId },
      useWorkerVersioning: false,
    },

    // 0.9 MB each; a run that does not fit is replayed for every task.
    maxCachedWorkflows: 500,
    maxConcurrentWorkflowTaskExecutions: 40,
    // Calls wait for models most of the time.
    maxConcurrentActivityTaskExecutions: 1000,
    workflowTaskPollerBehavior: { type: 'autoscaling', initial: 4, maximum: 20 },
    activityTaskPollerBehavior: { type: 'autoscaling', initial: 4, maximum: 50 },

    // A cancel rides on the answer to a heartbeat; by default beats are held back for 80% of the timeout.
    maxHeartbeatThrottleInterval: '3s',
    // The time an open run stands still when its worker is killed.
    stickyQueueScheduleToStartTimeout: '2s',
    shutdownGraceTime: '25s',
    shutdownForceTime: '50s',
    sinks: eventSinks(() => undefined),
    ...options,
  });
}
