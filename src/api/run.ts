/** What goes into a Query's workflow and what comes out of it. Types only. */
import type { FailureType } from './failures.ts';
import type { Definition, Hash, Snapshot, TeamPlan } from './snapshot.ts';
import type { AssistantMessage, Message, RunRef, Usage, View } from './transcript.ts';

/** Bounds every run obeys, whatever the resources say; set by the controller's flags. */
export interface RunLimits {
  /** Model calls one agent may make in one turn. */
  readonly toolRounds: number;
  /** Turns one team may take where its strategy has no `maxTurns` of its own. */
  readonly turns: number;
  /** Members of a parallel team, or targets of a Query, that speak at the same time. */
  readonly concurrency: number;
}

export interface RunInput {
  readonly snapshot: Snapshot;
  readonly limits: RunLimits;
  /** Present in the second and later runs of a chain. */
  readonly carried?: Carried;
}

/** What a team keeps between two turns. */
export interface TeamState {
  readonly turns: readonly Turn[];
  readonly said: View;
  readonly last?: Message;
}

/** What one run of a chain hands to the next (continue-as-new), all between two turns. */
export interface Carried {
  /** Slots are numbered per run; earlier ones are reached through the views. */
  readonly nextTurn: number;
  readonly usage: Usage;
  readonly history?: History;
  readonly held?: Remembered['held'];
  /** In spec order: how a target ended, or how far it has come. */
  readonly targets: readonly (TargetOutcome | TargetUnderway)[];
}

/** What was said in earlier Queries of the session, or why that cannot be known. */
export type History = View | { readonly failure: Failure };

/** A target that has not ended. Without `startedMs` it has not begun; its deadline counts from there. */
export interface TargetUnderway {
  readonly startedMs?: number;
  readonly state?: TeamState;
}

/** One speaker's go, as far as decisions need it: who spoke, and whether that ended the conversation. */
export interface Turn {
  /** Index into the team's members. */
  readonly member: number;
  readonly ends: boolean;
}

export interface Failure {
  readonly type: FailureType;
  /** At most 2,000 characters; never holds a Secret's value. */
  readonly message: string;
}

export interface Target {
  readonly type: 'agent' | 'team' | 'model' | 'tool';
  readonly name: string;
}

/** How one target ended. `content` is the text of its last message, also when it failed on the way. */
export interface TargetOutcome {
  readonly target: Target;
  readonly phase: 'done' | 'error' | 'canceled';
  readonly content: string;
  readonly failure?: Failure;
}

/**
 * How a run ended. It is the workflow's result when `done`, the first detail of its failure when `error`, and the
 * memo `outcome` when `canceled`, so that the Web UI shows the run as what it is and nothing answered is lost.
 */
export interface RunOutcome {
  readonly phase: 'done' | 'error' | 'canceled';
  readonly responses: readonly TargetOutcome[];
  readonly usage: Usage;
  readonly evaluations?: readonly EvaluationOutcome[];
}

/** One evaluator's judgement; an evaluator that failed scores 0 and says why in `metadata.error`. */
export interface EvaluationOutcome {
  readonly evaluator: string;
  readonly score: string;
  readonly passed: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The memo `progress`: what the newest turn is doing. */
export interface Progress {
  readonly turn: number;
  readonly speaker: string;
  readonly tokens: number;
  /** Every target has answered; the evaluators are being asked. */
  readonly isEvaluating?: true;
}

/** Input of a nested team's child workflow. Its snapshot leaves the definitions with the root run. */
export interface TeamRunInput {
  readonly snapshot: Snapshot;
  readonly limits: RunLimits;
  readonly team: TeamPlan;
  /** What had been said before the team got the floor. */
  readonly before: View;
  /** The names of the teams above, outermost first. */
  readonly path: readonly string[];
  readonly stream?: ModelCall['stream'];
  /** As `Question.target`. */
  readonly target?: number;
  readonly carried?: { readonly nextTurn: number; readonly usage: Usage; readonly state: TeamState };
}

/** How a nested team ended; the first detail of its failure when it failed. */
export interface TeamOutcome {
  /** All its members' messages, as segments that name the child's runs. */
  readonly said: View;
  readonly last?: Message;
  readonly usage: Usage;
  readonly failure?: Failure;
}

/** Asks a model once, as one agent or as itself. */
export interface ModelCall {
  /** Names an AgentDefinition or a DirectModelDefinition. */
  readonly definition: Hash;
  readonly question: Question;
  /** What is said before the question, and what the speaker has said in this turn after it; empty views are left out. */
  readonly before?: View;
  readonly own?: View;
  /** Where the run will keep the answer: lets the worker that heard it answer from its own memory. */
  readonly slot: number;
  /** Names a StreamDefinition, and for whom the answer is. */
  readonly stream?: { readonly definition: Hash; readonly target: string; readonly team?: string };
}

/** Lets an engine, or an A2A server, answer for an agent. */
export type EngineCall = Pick<ModelCall, 'definition' | 'question' | 'before' | 'slot' | 'stream'>;

/** Reads what is remembered of the conversation into a slot. */
export interface MemoryRead {
  /** Names a MemoryDefinition. */
  readonly definition: Hash;
  readonly slot: number;
}

/** What was said in earlier Queries of the session, or the newest part of it. */
export interface Remembered {
  readonly messages: readonly Message[];
  /** How many messages the session held, with those that are left out here. */
  readonly held?: number;
}

/** Ends the stream of a Query's answers. */
export interface StreamEnd {
  /** Names a StreamDefinition. */
  readonly definition: Hash;
  readonly target: string;
}

/** Adds the question and what was said to the conversation's memory. */
export interface MemoryWrite {
  readonly definition: Hash;
  readonly question: Question;
  readonly said: View;
  /** How many messages the session held when the run read it: what is added comes after these. */
  readonly held?: number;
}

export interface EvaluationCall {
  /** Names an EvaluatorDefinition. */
  readonly definition: Hash;
  /** Names a QueriedDefinition. */
  readonly queried: Hash;
  readonly responses: readonly Pick<TargetOutcome, 'target' | 'content'>[];
}

/** The hash of a QuestionDefinition, with its text while no call of the run has been answered and it is short. */
export interface Question {
  readonly hash: Hash;
  readonly text?: string;
  /** Whom the Query asks it, by place among its targets; absent for the first. */
  readonly target?: number;
}

export interface ModelReply {
  readonly message: AssistantMessage;
  /** Why the answer does not have the shape the agent's `outputSchema` asks for, in a sentence for the model. */
  readonly problem?: string;
  /** Why the model stopped, in its provider's word: `stop`, `tool_calls`, `length`, `end_turn`. */
  readonly finishReason?: string;
  readonly usage?: {
    readonly promptTokens: number;
    readonly completionTokens: number;
    readonly totalTokens: number;
  };
}

/** Uses one tool once. */
export interface ToolUse {
  /** Names an AgentDefinition or a DirectToolDefinition. */
  readonly definition: Hash;
  /** The tool's name and the slot and place of the model's wish; absent where the Query asks the tool directly. */
  readonly call?: { readonly tool: string; readonly slot: number; readonly index: number };
  readonly question: Question;
  readonly slot: number;
}

export interface ToolReply {
  readonly message: Message;
  /** The tool ends the conversation (`terminate`, contract section 4.9). */
  readonly ends?: boolean;
}

/** Asks a team's model who speaks next. */
export interface SpeakerChoice {
  /** Names a SelectorDefinition. */
  readonly definition: Hash;
  readonly before: View;
  /** As `Question.target`. */
  readonly target?: number;
}

/** The model's words, trimmed; whether they name a member is the strategy's to decide. */
export interface ChosenSpeaker {
  readonly answer: string;
  readonly usage?: ModelReply['usage'];
}

/**
 * Answer of the workflow query `transcript(from, to)`: the messages of slots `from` to `from + slots.length`, at most
 * 1 MiB and at least one slot; a slot whose call failed is empty.
 */
export interface TranscriptPage {
  readonly from: number;
  readonly slots: readonly (readonly Message[])[];
}

/** Answer of the workflow query `definition(hash)`: the definition, or the run to ask instead; null if unknown. */
export type DefinitionAnswer = { readonly definition: Definition } | { readonly at: RunRef } | null;

/** What an execution engine or an A2A server answered for its agent. */
export interface EngineReply {
  readonly messages: readonly Message[];
  readonly usage?: ModelReply['usage'];
}

/** What an evaluator answered (contract section 7.1). */
export interface EvaluatorReply {
  readonly score: string;
  readonly passed: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  readonly usage?: ModelReply['usage'];
}
