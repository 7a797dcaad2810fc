import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import type { Question } from '../api/run.ts';
import type { AgentPlan, ModelPlan, ToolPlan } from '../api/snapshot.ts';
import type { Message, TokenUsage, View } from '../api/transcript.ts';
import { clip } from './clip.ts';
import * as events from './events.ts';
import { failureOf } from './failures.ts';
import { activityId } from './ids.ts';
import { runAgent, type Answered } from './run-agent.ts';
import type { TurnTaken } from './run-team.ts';
import type { Stage } from './stage.ts';
import * as timeouts from './timeouts.ts';

const { callModel } = proxyActivities<Activities>(timeouts.modelCall);
const { callTool, callEngine } = proxyActivities<Activities>(timeouts.toolCall);

const questionInlineBytesMax = 4096;
const summaryBytesMax = 200;

/** One turn of an agent who has heard `before`. Its model and tool calls are activities `t003.critic.…`. */
export function agentTurn(stage: Stage, agent: AgentPlan, before: View): Promise<TurnTaken> {
  if (agent.hasEngine) return engineTurn(stage, agent, before);

  const { snapshot, limits, log } = stage;
  const { forgiven = [] } = agent;
  const turn = stage.ledger.open(agent.name, agent.model);
  let modelCalls = 0;
  let toolCalls = 0;

  const speak = () =>
    runAgent({
      toolRounds: limits.toolRounds,
      speaker: `${snapshot.query.namespace}/${agent.name}`,

      callModel: (own) =>
        events.told(
          stage,
          events.llmCall(stage, agent),
          () =>
            answered(stage, turn, { modelCalls: 1 }, (slot) =>
              callModel.executeWithOptions(
                {
                  activityId: activityId(turn, agent.name, 'model', ++modelCalls),
                  summary: summary(`turn ${turn} · ${agent.name} · ${agent.model}`),
                },
                [
                  {
                    definition: agent.definition,
                    question: question(stage),
                    before: spoken(before),
                    own: spoken(own),
                    slot,
                    stream: stage.stream,
                  },
                ],
              ),
            ),
          tokensOf,
        ),

      useTool: (call, { at, index }) =>
        events.told(
          stage,
          events.toolCall(stage, agent, call),
          () =>
            answered(stage, turn, { toolCalls: 1 }, (slot) =>
              callTool.executeWithOptions(
                {
                  activityId: activityId(turn, agent.name, 'tool', ++toolCalls, call.name),
                  summary: summary(`turn ${turn} · ${agent.name} · ${call.name} ${call.arguments}`),
                },
                [
                  {
                    definition: agent.definition,
                    call: { tool: call.name, slot: at[0]?.from ?? 0, index },
                    question: question(stage),
                    slot,
                  },
                ],
              ),
            ),
          (end) =>
            'failure' in end ? {} : events.toolCallEnding(call, end.reply.message, end.reply.ends ?? false),
        ),

      note: (message) => [log.keep(log.allot(), message)],
      isForgiven: (tool, { type }) => type !== 'RunCanceled' && forgiven.includes(tool),
    });
  return closing(stage, turn, () => events.told(stage, events.agentExecution(stage, agent), speak));
}

/** An agent that an engine or an A2A server answers for: one call (contract sections 4.13 and 4.14). */
function engineTurn(stage: Stage, agent: AgentPlan, before: View): Promise<TurnTaken> {
  const { log, ledger } = stage;
  const turn = ledger.open(agent.name, agent.model);
  const call = async (): Promise<TurnTaken & { readonly usage?: TokenUsage }> => {
    const slot = log.allot();
    try {
      const { messages, usage } = await callEngine.executeWithOptions(
        {
          activityId: activityId(turn, agent.name, 'engine', 1),
          summary: summary(`turn ${turn} · ${agent.name} · engine ${agent.model}`),
        },
        [
          {
            definition: agent.definition,
            question: question(stage),
            before: spoken(before),
            slot,
            stream: stage.stream,
          },
        ],
      );
      ledger.spend(turn, { ...usage, modelCalls: 1 });
      return { said: [log.keep(slot, ...messages)], last: messages.at(-1), ends: false, usage };
    } catch (error) {
      return { said: [], ends: false, failure: failureOf(error) };
    }
  };
  const speak = () =>
    events.told(stage, events.engineCall(stage, agent), call, ({ last, usage }) =>
      events.engineEnding(agent, last, usage),
    );
  return closing(stage, turn, () => events.told(stage, events.agentExecution(stage, agent), speak));
}

/** A Model asked directly: one call, no prompt, no tools (contract section 4.3). */
export function modelTurn(stage: Stage, model: ModelPlan, before: View): Promise<TurnTaken> {
  const turn = stage.ledger.open(model.name, model.name);
  const ask = () =>
    answered(stage, turn, { modelCalls: 1 }, (slot) =>
      callModel.executeWithOptions(
        {
          activityId: activityId(turn, model.name, 'model', 1),
          summary: summary(`turn ${turn} · ${model.name}`),
        },
        [
          {
            definition: model.definition,
            question: question(stage),
            before: spoken(before),
            slot,
            stream: stage.stream,
          },
        ],
      ),
    );
  return closing(stage, turn, async () =>
    taken(await events.told(stage, events.modelCall(model), ask, tokensOf)),
  );
}

/** A Tool asked directly, with the Query's input as its arguments (contract section 4.3). */
export function toolTurn(stage: Stage, tool: ToolPlan): Promise<TurnTaken> {
  const turn = stage.ledger.open(tool.name, '');
  return closing(stage, turn, async () =>
    taken(
      await answered(stage, turn, { toolCalls: 1 }, (slot) =>
        callTool.executeWithOptions(
          {
            activityId: activityId(turn, tool.name, 'tool', 1),
            summary: summary(`turn ${turn} · ${tool.name}`),
          },
          [{ definition: tool.definition, question: question(stage), slot }],
        ),
      ),
    ),
  );
}

/** Hands out a slot, waits for the answer, keeps it and counts what it cost. */
async function answered<Reply extends { readonly message: Message; readonly usage?: TokenUsage }>(
  { log, ledger }: Stage,
  turn: number,
  cost: { readonly modelCalls?: 1; readonly toolCalls?: 1 },
  ask: (slot: number) => Promise<Reply>,
): Promise<Answered<Reply>> {
  const slot = log.allot();
  try {
    const reply = await ask(slot);
    ledger.spend(turn, { ...reply.usage, ...cost });
    return { reply, at: [log.keep(slot, reply.message)] };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

export async function closing(
  stage: Stage,
  turn: number,
  take: () => Promise<TurnTaken>,
): Promise<TurnTaken> {
  const end = await take();
  stage.ledger.close(
    turn,
    end.failure ? `${end.failure.type}: ${end.failure.message}` : (end.last?.content ?? ''),
  );
  return end;
}

const tokensOf = (end: Answered<{ readonly usage?: TokenUsage }>) =>
  'failure' in end ? {} : { tokens: end.reply.usage };

const taken = (answer: Answered<{ readonly message: Message }>): TurnTaken =>
  'failure' in answer
    ? { said: [], ends: false, failure: answer.failure }
    : { said: answer.at, last: answer.reply.message, ends: false };

/** The text travels until somebody has answered; from then on the workers know it by its hash. */
export function question({ snapshot, ledger, target }: Stage): Question {
  const asked = { hash: snapshot.question, target };
  const definition = snapshot.definitions[asked.hash];
  if (ledger.usage().modelCalls > 0 || definition?.kind !== 'question' || !('text' in definition.question))
    return asked;

  const { text } = definition.question;
  return text.length <= questionInlineBytesMax ? { ...asked, text } : asked;
}

/** JSON leaves out what is undefined: every input is kept in the history. */
const spoken = (view: View): View | undefined => (view.length > 0 ? view : undefined);

export const summary = (text: string): string => clip(text.replaceAll(/\s+/g, ' '), summaryBytesMax);
