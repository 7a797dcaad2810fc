/** What a run tells people while it goes on (contract section 6.1). Types only. */
import type { Snapshot } from './snapshot.ts';
import type { TokenUsage } from './transcript.ts';

export interface RunEvent {
  readonly query: Snapshot['query'];
  /** One of ARK's reasons; those that end in `Error` warn. */
  readonly reason: string;
  /** Who or what it happened to. */
  readonly name: string;
  readonly facts: Readonly<Record<string, string>>;
  readonly tokens?: TokenUsage | undefined;
  readonly durationMs?: number;
  readonly error?: string;
}

/** Where workflow code puts what it has to tell; nothing of it is history, and nothing is told twice by a replay. */
export type RunSinks = { readonly events: { tell(event: RunEvent): void } };
