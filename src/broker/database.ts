/** One SQL for both: statements name their values `$1`, `$2` …, and use nothing that only one of the two understands. */
export interface Sql {
  query<R extends object>(text: string, values?: readonly SqlValue[]): Promise<R[]>;
}

/** Numbers are whole and below 2^53. */
export type SqlValue = string | number | null;

export interface Database extends Sql {
  readonly dialect: 'sqlite' | 'postgresql';
  /** Commits when `work` resolves, and only then resolves; undoes all of it when `work` rejects. */
  transaction<R>(work: (sql: Sql) => Promise<R>): Promise<R>;
  close(): Promise<void>;
}
