import type { Definitions } from './definitions.ts';
import type { Ports } from './ports.ts';
import type { Transcripts } from './transcripts.ts';

/** What every activity of a process works with: the world, and what the process remembers of the runs it serves. */
export interface Effects {
  readonly ports: Ports;
  readonly definitions: Definitions;
  readonly transcripts: Transcripts;
}
