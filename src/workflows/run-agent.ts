import type { Failure, ModelReply, ToolReply } from '../api/run.ts';
import type { Message, ToolCall, View } from '../api/transcript.ts';
import type { TurnTaken } from './run-team.ts';
import { join } from './view.ts';

/** An answer and the slot it is kept in, or why there is none. */
export type Answered<Reply> = { readonly reply: Reply; readonly at: View } | { readonly failure: Failure };

/** What an agent does besides deciding; `own` is what it has said in this turn. */
export interface AgentSteps {
  callModel(own: View): Promise<Answered<ModelReply>>;
  /** `wish` is the model's message that asked for the tool, `index` the call's place in it. */
  useTool(call: ToolCall, wish: { readonly at: View; readonly index: number }): Promise<Answered<ToolReply>>;
  /** Keeps a message nobody was asked for. */
  note(message: Message): View;
  /** Whether the model is told of this failure of a tool, and may go on. */
  isForgiven(tool: string, failure: Failure): boolean;
  /** Model calls in one turn. */
  readonly toolRounds: number;
  /** `namespace/name`, for messages. */
  readonly speaker: string;
}

/** How often an answer of the wrong shape is given back in one turn; these calls come on top of the tool rounds. */
const repairsMax = 1;

/**
 * One turn of an agent: model, tools, model, until there is an answer without tool calls, a tool ends the
 * conversation, or a call fails. Tools run one after the other in the order asked (contract section 4.4).
 */
export async function runAgent(steps: AgentSteps): Promise<TurnTaken> {
  let said: View = [];
  // What the model hears of itself: all of that, and an answer it was given back.
  let own: View = [];
  let last: Message | undefined;
  let repairs = 0;

  const say = (...views: readonly View[]): void => {
    said = join(said, ...views);
    own = join(own, ...views);
  };

  for (let round = 0; round < steps.toolRounds + repairs; round++) {
    const answer = await steps.callModel(own);
    if ('failure' in answer)
      return { said, last, ends: false, failure: named(steps.speaker, answer.failure) };
    last = answer.reply.message;
    const { problem } = answer.reply;
    if (problem !== undefined && repairs < repairsMax) {
      repairs++;
      own = join(own, answer.at, steps.note(tryAgain(problem)));
      continue;
    }
    say(answer.at);

    const calls = answer.reply.message.toolCalls ?? [];
    if (calls.length === 0) {
      return {
        said,
        last,
        ends: false,
        ...(problem !== undefined && { failure: misshapen(steps.speaker, problem) }),
      };
    }

    for (const [index, call] of calls.entries()) {
      const used = await steps.useTool(call, { at: answer.at, index });
      if ('failure' in used) {
        if (!steps.isForgiven(call.name, used.failure))
          return { said, last, ends: false, failure: used.failure };
        say(steps.note(excuse(call, used.failure)));
        continue;
      }
      say(used.at);
      last = used.reply.message;

      if (used.reply.ends) {
        say(...unanswered(calls.slice(index + 1), steps));
        return { said, last, ends: true };
      }
    }
  }

  const message =
    `agent ${steps.speaker} called its model ${steps.toolRounds} times in one turn and still asks for tools; ` +
    `give it a prompt that ends, or start the controller with a higher --tool-rounds`;
  return { said, last, ends: false, failure: { type: 'ToolRoundLimit', message } };
}

/** Said to the model alone: others hear neither this nor the answer it is about. */
const tryAgain = (problem: string): Message => ({
  role: 'user',
  content: `Your answer does not have the form that was asked for. ${problem} Answer again, with nothing but JSON of that form.`,
});

const misshapen = (speaker: string, problem: string): Failure => ({
  type: 'OutputInvalid',
  message: `agent ${speaker} answered ${repairsMax + 1} times in another form than its outputSchema asks for: ${problem}`,
});

const excuse = (call: ToolCall, { message }: Failure): Message => ({
  role: 'tool',
  toolCallId: call.id,
  content: `error: ${message}`,
});

/** Every call is answered, also beside `terminate`: providers refuse a history in which one is not. */
const unanswered = (calls: readonly ToolCall[], steps: AgentSteps): View[] =>
  calls.map((call) =>
    steps.note({ role: 'tool', toolCallId: call.id, content: 'not called: the conversation has ended' }),
  );

/** ARK's words (contract section 4.4), unless the message already says whose call it was. */
const named = (speaker: string, { type, message }: Failure): Failure => ({
  type,
  message: message.startsWith(`agent ${speaker} `)
    ? message
    : `agent ${speaker} execution failed: ${message}`,
});
