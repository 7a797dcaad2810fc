import type { InjectedSinks } from '@temporalio/worker';
import type { RunEvent, RunSinks } from '../api/run-event.ts';

/** Takes what runs tell, as it happens: a replay tells nothing a second time. */
export const eventSinks = (tell: (event: RunEvent) => void): InjectedSinks<RunSinks> => ({
  events: { tell: { fn: (_run, event) => tell(event), callDuringReplay: false } },
});
