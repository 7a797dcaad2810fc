import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import { failureOf } from './failures.ts';
import type { Stage } from './stage.ts';
import * as timeouts from './timeouts.ts';

const { endStream } = proxyActivities<Activities>(timeouts.streamEnd);

/** Tells readers of the answers that nothing more will come, also of a run that was cancelled. Never fails a run. */
export async function streamEnded({ snapshot }: Stage): Promise<void> {
  const { stream, targets } = snapshot;
  if (stream === undefined) return;

  const [first] = targets;
  const target = first ? `${first.type}/${first.name}` : '';
  try {
    await CancellationScope.nonCancellable(() =>
      endStream.executeWithOptions({ activityId: 'stream.end', summary: 'no more will come' }, [
        { definition: stream, target },
      ]),
    );
  } catch (error) {
    failureOf(error);
  }
}
