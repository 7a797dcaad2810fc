import type { ModelCall, ModelReply } from '../api/run.ts';
import type { AgentDefinition, DirectModelDefinition } from '../api/snapshot.ts';
import { answerInto } from './answer-into.ts';
import { complete } from './complete.ts';
import type { Step } from './context.ts';
import type { Effects } from './effects.ts';
import { endpointOf } from './endpoint.ts';
import { CallFailure, during } from './failures.ts';
import { ask } from './question.ts';
import { streaming } from './streaming.ts';
import { createValues } from './values.ts';

const outputNameCharactersMax = 64;

/** Asks a model once. Temporal does the repeating; a failure says whether repeating could help. */
export const callModel =
  (effects: Effects) =>
  (input: ModelCall): Promise<ModelReply> =>
    answerInto(effects, input.slot, async (step) => {
      const definition = await effects.definitions.get(step, input.definition, 'agent', 'model');
      return definition.kind === 'agent'
        ? askAgent(effects, step, input, definition)
        : askModel(effects, step, input, definition);
    });

/** System prompt, what was said before, the question, and what the agent has said in this turn (contract 4.4). */
async function askAgent(
  effects: Effects,
  step: Step,
  input: ModelCall,
  agent: AgentDefinition,
): Promise<ModelReply> {
  const { ports, transcripts } = effects;
  const speaker = `agent ${agent.namespace}/${agent.name}`;
  const values = createValues(ports, agent.access, step);

  const [prompt, before, question, own, endpoint] = await Promise.all([
    during(`${speaker} prompt resolution failed`, () => values.render(agent.prompt)),
    transcripts.read(step, input.before ?? []),
    ask(effects, step, input.question),
    transcripts.read(step, input.own ?? []),
    endpointOf(agent.model, values),
  ]);
  const request = {
    endpoint,
    messages: [{ role: 'system', content: prompt }, ...before, { role: 'user', content: question }, ...own],
    tools: agent.tools,
    ...(agent.outputSchema && { output: { name: outputName(agent), schema: agent.outputSchema } }),
  } as const;
  const reply = await streaming(
    effects,
    step,
    input,
    { agent: agent.name, model: agent.model.name },
    (onChunk) => complete(ports, step, { ...request, ...(onChunk && { onChunk }) }),
  );
  if (!reply) throw new CallFailure('ModelReplyInvalid', `${speaker} received empty response`);
  const problem = await problemOf(effects, agent, reply);
  return { ...reply, message: { ...reply.message, name: agent.name }, ...(problem && { problem }) };
}

/** A message that asks for tools is not the answer yet. */
async function problemOf(
  { ports }: Effects,
  { outputSchema }: AgentDefinition,
  { message }: ModelReply,
): Promise<string | undefined> {
  if (!outputSchema || message.toolCalls?.length) return undefined;
  return ports.outputs.problem(outputSchema, message.content);
}

/** A Model asked by a Query itself: no prompt, no tools, no name (contract section 4.3). */
async function askModel(
  effects: Effects,
  step: Step,
  input: ModelCall,
  { model, access }: DirectModelDefinition,
): Promise<ModelReply> {
  const { ports, transcripts } = effects;
  const [before, question, endpoint] = await Promise.all([
    transcripts.read(step, input.before ?? []),
    ask(effects, step, input.question),
    endpointOf(model, createValues(ports, access, step)),
  ]);
  const messages = [...before, { role: 'user', content: question } as const];
  const reply = await during('model chat completion failed', () =>
    streaming(effects, step, input, { model: model.name }, (onChunk) =>
      complete(ports, step, { endpoint, messages, tools: [], ...(onChunk && { onChunk }) }),
    ),
  );
  if (!reply) throw new CallFailure('ModelReplyInvalid', 'model returned no completion choices');
  return reply;
}

const outputName = ({ namespace, name }: AgentDefinition): string =>
  `namespace-${namespace}-agent-${name}`.slice(0, outputNameCharactersMax);
