import type { TranscriptPage } from '../api/run.ts';
import type { Message, Segment } from '../api/transcript.ts';

/** At three bytes a character a page stays below the 2 MiB at which the server refuses a query's answer. */
const pageCharactersMax = 512 * 1024;

/** Everything said in one run, each answer once. Slots are numbered from 0 in the order in which they were handed out. */
export interface Log {
  /** Hands out the next slot; a call that fails leaves it empty. */
  allot(): number;
  keep(slot: number, ...messages: readonly Message[]): Segment;
  page(from: number, to: number): TranscriptPage;
}

export function createLog(): Log {
  const slots: (readonly Message[])[] = [];

  return {
    allot: () => slots.push([]) - 1,

    keep(slot, ...messages) {
      slots[slot] = messages;
      return { from: slot, to: slot + 1 };
    },

    /** At least one slot, so that a reader always gets on; each is bounded by the size of an activity's result. */
    page(from, to) {
      const page: (readonly Message[])[] = [];
      let characters = 0;
      for (const slot of slots.slice(from, to)) {
        characters += JSON.stringify(slot).length;
        if (page.length > 0 && characters > pageCharactersMax) break;
        page.push(slot);
      }
      return { from, slots: page };
    },
  };
}
