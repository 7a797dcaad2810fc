import { LRUCache } from 'lru-cache';
import type { Message, RunRef, Segment, View } from '../api/transcript.ts';
import { untilAborted, type Step } from './context.ts';
import { CallFailure } from './failures.ts';
import type { RunReader } from './ports.ts';

const bytesMax = 64 * 1024 * 1024;
const bytesPerCharacter = 2;
const bytesPerSlot = 256;

type Slot = readonly Message[];

/**
 * What has been said, as this process remembers it. Activities are given views, never messages; what they did not
 * hear themselves they ask the run that keeps it, by the workflow query `transcript`, once for all that ask at the
 * same time. No answer travels to the server a second time.
 *
 * Slots are remembered by run id, so a reset, which makes a new run, never sees what its predecessor said.
 */
export interface Transcripts {
  /** The messages of a view, in order. */
  read(step: Step, view: View): Promise<readonly Message[]>;
  /**
   * Keeps this step's own answers for the run's next call. Only while the server surely waits for it: an attempt given
   * up for lost is made again elsewhere, and the run then keeps another answer in that slot.
   */
  remember(step: Step, slot: number, messages: readonly Message[]): void;
  /** Forgets what an earlier attempt of this step may have remembered. */
  forget(step: Step, slot: number): void;
}

export function createTranscripts(limits = { bytesMax }): Transcripts {
  const remembered = new LRUCache<string, Slot>({ maxSize: limits.bytesMax, sizeCalculation: sizeOf });
  const flights = new Map<string, Promise<readonly Slot[]>>();

  function fetch(reader: RunReader, run: RunRef, from: number, to: number): Promise<readonly Slot[]> {
    const flight = `${run.runId}/${from}-${to}`;
    const ahead = flights.get(flight);
    if (ahead) return ahead;

    const fetching = fetchSlots(reader, run, from, to).finally(() => flights.delete(flight));
    flights.set(flight, fetching);
    return fetching;
  }

  async function readSegment(step: Step, { run = step.run, from, to }: Segment): Promise<readonly Slot[]> {
    const slots = Array.from({ length: to - from }, (_, index) => remembered.get(key(run, from + index)));
    const first = slots.indexOf(undefined);
    if (first === -1) return slots as Slot[];

    // One stretch, even where some of it is remembered: questions cost more than answers.
    const last = slots.lastIndexOf(undefined);
    const fetched = await untilAborted(fetch(step.reader, run, from + first, from + last + 1), step.signal);
    for (const [index, slot] of fetched.entries()) {
      slots[first + index] = slot;
      // An empty slot may be one whose call has not been answered yet.
      if (slot.length > 0) remembered.set(key(run, from + first + index), slot);
    }
    return slots as Slot[];
  }

  return {
    read: async (step, view) =>
      (await Promise.all(view.map((segment) => readSegment(step, segment)))).flat(2),
    remember(step, slot, messages) {
      if (step.isSurelyAwaited()) remembered.set(key(step.run, slot), messages);
    },
    forget: (step, slot) => void remembered.delete(key(step.run, slot)),
  };
}

/** A page holds at least one slot, so the number of questions is bounded by the number of slots. */
async function fetchSlots(reader: RunReader, run: RunRef, from: number, to: number): Promise<Slot[]> {
  const slots: Slot[] = [];
  while (from + slots.length < to) {
    const next = from + slots.length;
    const page = await reader.transcript(run, next, to);
    if (page.from !== next || page.slots.length === 0) {
      throw new CallFailure(
        'TranscriptUnavailable',
        `run ${run.runId} of ${run.workflowId} has not kept the slots ${next} to ${to} it was asked for`,
      );
    }
    slots.push(...page.slots.slice(0, to - next));
  }
  return slots;
}

const key = ({ runId }: RunRef, slot: number): string => `${runId}/${slot}`;

const sizeOf = (slot: Slot): number => bytesPerSlot + JSON.stringify(slot).length * bytesPerCharacter;
