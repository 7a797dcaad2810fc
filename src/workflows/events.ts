import { proxySinks } from '@temporalio/workflow';
import type { RunEvent, RunSinks } from '../api/run-event.ts';
import type { Failure, Turn } from '../api/run.ts';
import type { AgentPlan, MemberPlan, ModelPlan, TeamPlan } from '../api/snapshot.ts';
import type { Message, TokenUsage, ToolCall } from '../api/transcript.ts';
import { clip } from './clip.ts';
import type { Next } from './strategies/next.ts';
import type { Stage } from './stage.ts';

const { events } = proxySinks<RunSinks>();

/** A call's arguments, as they are told: an Event is read by people, and one of many. */
const parametersBytesMax = 8 * 1024;

type Facts = RunEvent['facts'];

/** Something that takes time. Told by ARK's reasons `<kind>Start`, and `<kind>Complete` or `<kind>Error`. */
interface Happening {
  readonly kind: string;
  readonly name: string;
  readonly facts: Facts;
  /** ARK has no `Error` for it: its end is a `Complete` however it ended. */
  readonly alwaysCompletes?: true;
}

/** What is added when it ended well. */
interface Ending {
  readonly facts?: Facts;
  /** Takes the place of the facts told at the start. */
  readonly only?: Facts;
  readonly tokens?: TokenUsage | undefined;
}

/** Tells people one thing, by a Kubernetes Event of the Query; nobody waits for it, and it may get lost. */
export function tell(stage: Stage, reason: string, name: string, facts: Facts): void {
  events.tell({ query: stage.snapshot.query, reason, name, facts });
}

/** Does the work, and tells when it begins and how it ends. */
export async function told<R extends object>(
  stage: Stage,
  { kind, name, facts, alwaysCompletes }: Happening,
  work: () => Promise<R>,
  ending: (end: R) => Ending = () => ({}),
): Promise<R> {
  const { query } = stage.snapshot;
  tell(stage, `${kind}Start`, name, facts);
  const startedMs = Date.now();
  const end = await work();
  const durationMs = Date.now() - startedMs;

  const failure = 'failure' in end ? (end.failure as Failure | undefined) : undefined;
  if (failure && !alwaysCompletes) {
    events.tell({ query, reason: `${kind}Error`, name, facts, durationMs, error: failure.message });
  } else {
    const { facts: more, only, tokens } = failure ? {} : ending(end);
    const said = only ?? { ...facts, ...more };
    events.tell({ query, reason: `${kind}Complete`, name, facts: said, durationMs, tokens });
  }
  return end;
}

const idsOf = ({ snapshot: { query } }: Stage) => ({
  queryId: query.uid,
  sessionId: query.session ?? query.uid,
});

const namespaced = ({ snapshot }: Stage, name: string): string => `${snapshot.query.namespace}/${name}`;

export const agentExecution = (stage: Stage, agent: AgentPlan): Happening => ({
  kind: 'AgentExecution',
  name: namespaced(stage, agent.name),
  facts: {
    model: agent.provider ?? agent.model,
    agentName: namespaced(stage, agent.name),
    namespace: stage.snapshot.query.namespace,
    ...idsOf(stage),
  },
  alwaysCompletes: true,
});

export function llmCall(stage: Stage, agent: AgentPlan): Happening {
  const model = agent.provider ?? agent.model;
  return { kind: 'LLMCall', name: model, facts: { agent: namespaced(stage, agent.name), model } };
}

export const modelCall = ({ name }: ModelPlan): Happening => ({
  kind: 'ModelCall',
  name,
  facts: { model: name, type: 'direct' },
});

export const toolCall = (stage: Stage, agent: AgentPlan, call: ToolCall): Happening => ({
  kind: 'ToolCall',
  name: call.name,
  facts: {
    toolId: call.id,
    toolName: call.name,
    agentName: namespaced(stage, agent.name),
    parameters: clip(call.arguments, parametersBytesMax),
    paramCount: String(argumentsIn(call.arguments)),
    toolType: agent.tools?.[call.name] ?? 'unknown',
    ...idsOf(stage),
  },
});

/** A tool that ends the conversation says so, and nothing else. */
export const toolCallEnding = (call: ToolCall, message: Message, ends: boolean): Ending =>
  ends
    ? { only: terminated }
    : {
        facts: { resultLength: String(message.content.length), hasError: 'false', resultId: call.id },
      };

const terminated = { terminationMessage: 'TerminateTeam' };

function argumentsIn(json: string): number {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
  } catch {
    return 0;
  }
}

export const teamExecution = (stage: Stage, team: TeamPlan): Happening => ({
  kind: 'TeamExecution',
  name: namespaced(stage, team.name),
  facts: {
    strategy: team.strategy,
    teamName: namespaced(stage, team.name),
    memberCount: String(team.members.length),
    ...idsOf(stage),
  },
});

/** `turn` is the member's place in the list, in a graph the number of turns before this one. */
export const teamMember = (stage: Stage, team: TeamPlan, member: MemberPlan, turn: number): Happening => ({
  kind: 'TeamMember',
  name: member.name,
  facts: {
    team: namespaced(stage, team.name),
    memberType: member.type,
    turn: String(turn),
    strategy: team.strategy,
    ...idsOf(stage),
  },
});

export const memberEnding = ({ ends }: { readonly ends: boolean }): Ending =>
  ends ? { facts: terminated } : {};

/** What a team adds when it ends: the tokens its members have used, each counted once. */
export const teamEnding = (before: TokenUsage, after: TokenUsage): Ending => {
  const totalTokens = after.totalTokens - before.totalTokens;
  if (totalTokens === 0) return {};
  return {
    tokens: {
      promptTokens: after.promptTokens - before.promptTokens,
      completionTokens: after.completionTokens - before.completionTokens,
      totalTokens,
    },
  };
};

/**
 * Tells what a team's strategy decided: that a turn begins (of round-robin a whole pass, of a graph only the first; a
 * selector's has begun when its model was asked), who was selected and why, or that the turns are used up. A sequential
 * or parallel team decides nothing.
 */
export function tellNext(
  stage: Stage,
  team: TeamPlan,
  turns: readonly Turn[],
  next: Next,
  chosen: string | undefined,
): void {
  const { strategy, members } = team;
  if (strategy === 'sequential' || strategy === 'parallel') return;

  const turn = strategy === 'round-robin' ? Math.floor(turns.length / members.length) : turns.length;
  if ('failure' in next) {
    if (next.failure.type === 'TeamTurnLimit') tellTurn(stage, team, 'TeamTurnMaxTurns', turn);
    return;
  }
  const [speaker] = next.speakers;
  const member = speaker === undefined ? undefined : members[speaker];
  if (!member) return;

  const begins = strategy === 'graph' ? turns.length === 0 : strategy === 'round-robin' && speaker === 0;
  if (begins) tellTurnStart(stage, team, turn);
  if (strategy === 'graph') tellSelected(stage, team, member.name, 'graph');
  if (strategy === 'selector') {
    tellSelected(stage, team, member.name, member.name === chosen ? 'exact_match' : 'fallback_no_match');
  }
}

export const tellTurnStart = (stage: Stage, team: TeamPlan, turn: number): void =>
  tellTurn(stage, team, 'TeamTurnStart', turn);

const tellTurn = (
  stage: Stage,
  team: TeamPlan,
  what: 'TeamTurnStart' | 'TeamTurnMaxTurns',
  turn: number,
): void =>
  tell(stage, what, namespaced(stage, team.name), {
    strategy: team.strategy,
    turn: String(turn),
    type: 'turn',
  });

const tellSelected = (
  stage: Stage,
  team: TeamPlan,
  participant: string,
  reason: 'exact_match' | 'fallback_no_match' | 'graph',
): void =>
  tell(stage, 'ParticipantSelected', namespaced(stage, team.name), {
    selected_participant: participant,
    selection_reason: reason,
    type: 'team_selector',
  });

export const tellSelectorAnswer = (stage: Stage, team: TeamPlan, model: string, answer: string): void =>
  tell(stage, 'SelectorModelResponse', namespaced(stage, team.name), {
    model,
    selected_name: answer,
    available_participants: team.members.map(({ name }) => name).join(', '),
    type: 'team_selector_response',
  });

/** An engine, or the A2A server, that answers for an agent. */
export function engineCall(stage: Stage, agent: AgentPlan): Happening {
  const { namespace } = stage.snapshot.query;
  if (!agent.a2a) {
    const facts = { agent: namespaced(stage, agent.name), namespace };
    return { kind: 'Executor', name: agent.model, facts };
  }
  return {
    kind: 'A2ACall',
    name: agent.name,
    facts: {
      a2aServer: agent.a2a.server,
      serverAddr: agent.a2a.address,
      protocol: 'a2a-jsonrpc',
      namespace,
      ...idsOf(stage),
    },
  };
}

export const engineEnding = (
  agent: AgentPlan,
  last: Message | undefined,
  tokens: TokenUsage | undefined,
): Ending =>
  agent.a2a
    ? {
        facts: {
          responseLength: String(last?.content.length ?? 0),
          hasError: 'false',
          messageCount: '1',
        },
      }
    : { tokens };

export const memoryCall = (
  stage: Stage,
  kind: 'MemoryGetMessages' | 'MemoryAddMessages',
  facts: Facts = {},
) => ({
  kind,
  name: stage.snapshot.memoryName ?? '',
  facts: {
    namespace: stage.snapshot.query.namespace,
    sessionId: idsOf(stage).sessionId,
    ...facts,
  },
});

export const evaluation = (stage: Stage, evaluator: string): Happening => ({
  kind: 'Evaluation',
  name: stage.snapshot.query.name,
  facts: { namespace: stage.snapshot.query.namespace, evaluator },
});

/** How a Query ended is told by the controller, which also knows of Queries that could not be started. */
export const tellStart = (stage: Stage): void => {
  const { query, targets } = stage.snapshot;
  const named = String(query.named ?? targets.length);
  tell(stage, 'QueryResolveStart', query.name, { namespace: query.namespace, targets: named });
};

export const tellTarget = (stage: Stage, type: string, name: string, failed: boolean): void =>
  tell(stage, failed ? 'TargetExecutionError' : 'TargetExecutionComplete', name, {
    targetType: type,
    targetName: name,
    type,
  });
