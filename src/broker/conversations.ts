/** What is remembered, and by which questions it is found. One implementation, on either database: stored-conversations.ts. */

/** Both dialects speak of the same: a session of contract section 5.3 is a conversation of section 12. */
export interface Conversations {
  /**
   * Adds all of the messages or none, behind those that are there, with none of another append between them. Resolves once
   * they are safe. `isRepeated` where the key was seen before: then nothing was added.
   */
  append(append: Append): Promise<{ readonly isRepeated: boolean }>;
  /** Makes one without messages; changes nothing where it is there. */
  create(id: string): Promise<void>;
  find(id: string): Promise<Conversation | undefined>;
  /** The most recently used first. */
  list(page: Page): Promise<readonly Conversation[]>;
  /** In order; `total` counts all that the filter finds. A page may hold fewer than asked for (`pageBytesMax`). */
  messages(
    filter: Filter,
    page: Page,
  ): Promise<{ readonly records: readonly Stored[]; readonly total: number }>;
  /** The newest messages, as JSON texts in order: at most `newestMessagesMax`, and at most `newestBytesMax` together. */
  newest(conversation: string): Promise<readonly string[]>;
  /** Resolves with how many there were. */
  removeQuery(query: string): Promise<number>;
  /** Removes what has expired, a bounded part of it at a time; resolves with how many messages that were. */
  sweep(): Promise<number>;
  /** Rejects where the database does not answer. */
  check(): Promise<void>;
}

export interface Append {
  readonly conversation: string;
  /** Empty in the older dialect, which knows none. */
  readonly query: string;
  /** JSON texts. */
  readonly messages: readonly string[];
  readonly ttlMs?: number | undefined;
  /** The same for every attempt at one append; remembered for `keyAgeMaxMs`. */
  readonly key?: string | undefined;
}

export interface Conversation {
  readonly id: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly messages: number;
}

export interface Stored {
  readonly sequence: number;
  readonly conversation: string;
  readonly query: string;
  /** JSON. */
  readonly message: string;
  readonly createdAtMs: number;
}

export interface Filter {
  readonly conversation?: string | undefined;
  readonly query?: string | undefined;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export const newestMessagesMax = 10_000;
export const newestBytesMax = 32 * 1024 * 1024;
/** Larger than the largest message, so that no page is empty before the end. */
export const pageBytesMax = 16 * 1024 * 1024;
export const keyAgeMaxMs = 7 * 24 * 60 * 60_000;
