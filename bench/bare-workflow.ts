import { proxyActivities } from '@temporalio/workflow';

const { answer } = proxyActivities<{ answer: () => Promise<string> }>({ startToCloseTimeout: '1 minute' });

/** As many calls one after the other as asked for, and nothing else. */
export async function calls(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await answer();
}
