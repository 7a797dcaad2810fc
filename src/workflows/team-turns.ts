import { TypedSearchAttributes } from '@temporalio/common';
import {
  ApplicationFailure,
  ChildWorkflowFailure,
  executeChild,
  ParentClosePolicy,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import type { TeamOutcome, TeamRunInput, TeamState } from '../api/run.ts';
import type { MemberPlan, TeamPlan } from '../api/snapshot.ts';
import type { View } from '../api/transcript.ts';
import * as events from './events.ts';
import { failureOf } from './failures.ts';
import { activityId, teamWorkflowId, turnId } from './ids.ts';
import { runTeam, type TeamEnd, type TeamSteps, type TurnTaken } from './run-team.ts';
import { agentTurn, closing, summary } from './speakers.ts';
import type { Choice } from './strategies/selector.ts';
import { thisRun, type Stage } from './stage.ts';
import * as timeouts from './timeouts.ts';
import { join, seenFromOutside } from './view.ts';

const { selectSpeaker } = proxyActivities<Activities>(timeouts.modelCall);

/** A team in this run: its members' turns are this run's turns, but for nested teams, which get runs of their own. */
export function teamTurns(
  stage: Stage,
  team: TeamPlan,
  before: View,
  betweenTurns: (state: TeamState) => Promise<void>,
  soFar?: TeamState,
): Promise<TeamEnd> {
  const inTeam = stage.stream ? { ...stage, stream: { ...stage.stream, team: team.name } } : stage;
  let chosen: string | undefined;
  const steps: TeamSteps = {
    concurrency: stage.limits.concurrency,
    betweenTurns,
    async chooseSpeaker(said, turns) {
      events.tellTurnStart(stage, team, turns.length);
      const choice = await choose(stage, team, join(before, said));
      chosen = 'answer' in choice ? choice.answer : undefined;
      return choice;
    },
    decided: (turns, next) => events.tellNext(stage, team, turns, next, chosen),
    takeTurn: (member, said, place) =>
      events.told(
        stage,
        events.teamMember(stage, team, member, place),
        () => memberTurn(inTeam, member, join(before, said)),
        events.memberEnding,
      ),
  };
  const spent = stage.ledger.usage();
  return events.told(
    stage,
    events.teamExecution(stage, team),
    () => runTeam(team, steps, soFar),
    () => events.teamEnding(spent, stage.ledger.usage()),
  );
}

function memberTurn(stage: Stage, member: MemberPlan, before: View): Promise<TurnTaken> {
  if (member.type === 'agent') return agentTurn(stage, planned(stage.snapshot.agents, member), before);

  const team = planned(stage.snapshot.teams, member);
  return speaksOnce(team) ? inlineTeam(stage, team, before) : nestedTeam(stage, team, before);
}

/** A run of its own costs as much as several calls; a team that comes to one turn does without. */
const speaksOnce = ({ members, strategy }: TeamPlan): boolean =>
  members.length === 1 &&
  members[0]?.type === 'agent' &&
  (strategy === 'sequential' || strategy === 'parallel');

async function inlineTeam(stage: Stage, team: TeamPlan, before: View): Promise<TurnTaken> {
  const { state, failure } = await teamTurns(stage, team, before, () => Promise.resolve());
  return { said: state.said, last: state.last, ends: false, failure };
}

/** `terminate` in a nested team ends that team only (contract section 4.9), so its turn never ends the outer one. */
async function nestedTeam(stage: Stage, team: TeamPlan, before: View): Promise<TurnTaken> {
  const { snapshot, limits, ledger } = stage;
  const here = thisRun();

  const turn = ledger.open(team.name, `team, ${team.strategy}`);
  const path = [...stage.path, turnId(turn)];

  return closing(stage, turn, async () => {
    const outcome = await childOutcome({
      snapshot: { ...snapshot, definitions: {}, definitionsAt: snapshot.definitionsAt ?? here },
      limits,
      team,
      before: seenFromOutside(before, here),
      path,
      stream: stage.stream,
      target: stage.target,
    });
    if (!('said' in outcome)) return { said: [], ends: false, failure: outcome };
    ledger.spend(turn, outcome.usage);
    return { said: outcome.said, last: outcome.last, ends: false, failure: outcome.failure };
  });
}

async function childOutcome(input: TeamRunInput): Promise<TeamOutcome | NonNullable<TeamOutcome['failure']>> {
  try {
    return await executeChild<(input: TeamRunInput) => Promise<TeamOutcome>>('teamWorkflow', {
      args: [input],
      workflowId: teamWorkflowId(input.snapshot.query, input.path, input.team.name),
      // A reset parent finds the child of its earlier run still open, and has to replace it.
      workflowIdReusePolicy: 'TERMINATE_IF_RUNNING',
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: ours(),
      staticSummary: summary(`${input.path.at(-1)} · team ${input.team.name} · ${input.team.strategy}`),
    });
  } catch (error) {
    return outcomeInFailure(error) ?? failureOf(error);
  }
}

/** A nested team is found by the same attributes as its Query; those the server adds by itself are its own. */
const ours = (): TypedSearchAttributes =>
  new TypedSearchAttributes(
    workflowInfo()
      .typedSearchAttributes.getAll()
      .filter(({ key }) => key.name.startsWith('Ark')),
  );

/** A nested team that failed hands over what was said before, as the first detail of its failure. */
const outcomeInFailure = (error: unknown): TeamOutcome | undefined =>
  error instanceof ChildWorkflowFailure && error.cause instanceof ApplicationFailure
    ? (error.cause.details?.[0] as TeamOutcome | undefined)
    : undefined;

async function choose(stage: Stage, team: TeamPlan, before: View): Promise<Choice> {
  if (team.strategy !== 'selector') throw new TypeError(`team ${team.name} does not choose its speakers`);

  const turn = stage.ledger.nextTurn();
  try {
    const { answer, usage } = await selectSpeaker.executeWithOptions(
      {
        activityId: activityId(turn, team.name, 'select'),
        summary: summary(`turn ${turn} · who speaks next in ${team.name}? · ${team.model}`),
      },
      [{ definition: team.definition, before, target: stage.target }],
    );
    stage.ledger.spend(turn, { ...usage, modelCalls: 1 });
    events.tellSelectorAnswer(stage, team, team.model, answer);
    return { answer };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** The controller puts every member into the snapshot; a miss is a bug and fails the run by name. */
export function planned<Plan>(plans: Readonly<Record<string, Plan>>, { type, name }: MemberPlan): Plan {
  const plan = plans[name];
  if (!plan) throw new ReferenceError(`${type} ${name} is not in the snapshot`);
  return plan;
}
