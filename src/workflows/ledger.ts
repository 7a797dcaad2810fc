import { setCurrentDetails, upsertMemo } from '@temporalio/workflow';
import type { Progress } from '../api/run.ts';
import type { Usage } from '../api/transcript.ts';

const rowsMax = 100;
const nothingSpent: Usage = {
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  modelCalls: 0,
  toolCalls: 0,
};

/**
 * What a run has spent and who has spoken: a table in the Web UI ("current details", no events) and the memo
 * `progress`, which the controller reads (one small event a turn).
 */
export interface Ledger {
  /** Hands out the number of a new turn and shows who has the floor. */
  open(speaker: string, model: string): number;
  /** Adds what a call, or a nested team, has spent. */
  spend(turn: number, usage: Partial<Usage>): void;
  /** Writes down how a turn ended, in a few words. */
  close(turn: number, outcome: string): void;
  usage(): Usage;
  nextTurn(): number;
}

interface Row {
  readonly turn: number;
  readonly speaker: string;
  readonly model: string;
  readonly usage: Usage;
  readonly outcome: string;
}

export function createLedger(carried?: { readonly nextTurn: number; readonly usage: Usage }): Ledger {
  let next = carried?.nextTurn ?? 1;
  let total = carried?.usage ?? nothingSpent;
  const rows: Row[] = [];

  const amend = (turn: number, change: (row: Row) => Row): void => {
    const index = rows.findLastIndex((row) => row.turn === turn);
    const row = rows[index];
    if (row) rows[index] = change(row);
  };
  const show = (): void => setCurrentDetails(table(rows, total));

  return {
    open(speaker, model) {
      const turn = next++;
      rows.push({ turn, speaker, model, usage: nothingSpent, outcome: '…' });
      rows.splice(0, rows.length - rowsMax);
      upsertMemo({ progress: { turn, speaker, tokens: total.totalTokens } satisfies Progress });
      show();
      return turn;
    },
    spend(turn, usage) {
      total = add(total, usage);
      amend(turn, (row) => ({ ...row, usage: add(row.usage, usage) }));
    },
    close(turn, outcome) {
      amend(turn, (row) => ({ ...row, outcome }));
      show();
    },
    usage: () => total,
    nextTurn: () => next,
  };
}

const add = (one: Usage, more: Partial<Usage>): Usage => ({
  promptTokens: one.promptTokens + (more.promptTokens ?? 0),
  completionTokens: one.completionTokens + (more.completionTokens ?? 0),
  totalTokens: one.totalTokens + (more.totalTokens ?? 0),
  modelCalls: one.modelCalls + (more.modelCalls ?? 0),
  toolCalls: one.toolCalls + (more.toolCalls ?? 0),
});

function table(rows: readonly Row[], total: Usage): string {
  const lines = rows.map(
    ({ turn, speaker, model, usage, outcome }) =>
      `| ${turn} | ${cell(speaker)} | ${cell(model)} | ${usage.modelCalls} | ${usage.toolCalls} | ${usage.totalTokens} | ${cell(outcome)} |`,
  );
  return [
    `**${total.totalTokens} tokens** in ${total.modelCalls} model calls and ${total.toolCalls} tool calls`,
    '',
    '| turn | speaker | model | model calls | tool calls | tokens | said |',
    '| ---: | --- | --- | ---: | ---: | ---: | --- |',
    ...lines,
  ].join('\n');
}

const cell = (text: string): string => text.slice(0, 80).replaceAll(/[|\s]+/g, ' ');
