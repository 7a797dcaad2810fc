import type { EngineCall, EngineReply } from '../api/run.ts';
import type { A2aEngineDefinition, EngineAgentDefinition, ExecuteEngineDefinition } from '../api/snapshot.ts';
import { answersInto } from './answer-into.ts';
import type { Step } from './context.ts';
import type { Effects } from './effects.ts';
import { endpointOf } from './endpoint.ts';
import { CallFailure, during, isRemoteError, remoteFailure } from './failures.ts';
import { ask } from './question.ts';
import { streaming } from './streaming.ts';
import { createValues } from './values.ts';

/** Lets an engine, or an A2A server, answer once for an agent. Temporal does the repeating. */
export const callEngine =
  (effects: Effects) =>
  (input: EngineCall): Promise<EngineReply> =>
    answersInto(effects, input.slot, async (step) => {
      const agent = await effects.definitions.get(step, input.definition, 'engine-agent');
      const { engine, name } = agent;
      try {
        return await streaming(effects, step, input, { agent: name }, () =>
          engine.type === 'a2a'
            ? askServer(effects, step, input, agent, engine)
            : askEngine(effects, step, input, agent, engine),
        );
      } catch (error) {
        throw isRemoteError(error)
          ? remoteFailure(error, { unavailable: 'EngineUnavailable', rejected: 'EngineRejected' })
          : error;
      }
    });

/** It hears the question alone: no history, no prompt, no tools (contract section 4.13). */
async function askServer(
  effects: Effects,
  step: Step,
  input: EngineCall,
  { access }: EngineAgentDefinition,
  { address, headers }: A2aEngineDefinition,
): Promise<EngineReply> {
  const { ports } = effects;
  const values = createValues(ports, access, step);
  const [question, server] = await Promise.all([
    ask(effects, step, input.question),
    during('A2A agent execution failed', async () => ({
      address: await values.text(address),
      headers: await values.headers(headers),
    })),
  ]);
  const content = await ports.a2a.send(server, question, optionsOf(step));
  return { messages: [{ role: 'assistant', content }] };
}

/** It hears all an agent of ours would, and the model's key as well (contract section 4.14). */
async function askEngine(
  effects: Effects,
  step: Step,
  input: EngineCall,
  agent: EngineAgentDefinition,
  engine: ExecuteEngineDefinition,
): Promise<EngineReply> {
  const { ports, transcripts } = effects;
  const { namespace, name, outputSchema, tools } = agent;
  const values = createValues(ports, agent.access, step);
  const [prompt, history, userInput, model, address] = await Promise.all([
    during(`agent ${namespace}/${name} prompt resolution failed`, () => values.render(agent.prompt)),
    transcripts.read(step, input.before ?? []),
    ask(effects, step, input.question),
    endpointOf(engine.model, values),
    during('failed to resolve execution engine address', () => values.text(engine.address)),
  ]);
  const { description, parameters, protocol } = engine;
  const reply = await ports.engines.execute(
    { address, protocol },
    {
      agent: { namespace, name, prompt, description, parameters, ...(outputSchema && { outputSchema }) },
      model,
      userInput,
      history,
      tools,
    },
    optionsOf(step),
  );
  if (reply.messages.length > 0) return reply;
  throw new CallFailure('EngineRejected', `execution engine ${engine.name} answered without a message`);
}

/** As a tool: a re-run of the turn must not make the engine do its work twice. */
const optionsOf = (step: Step) => ({
  signal: step.signal,
  idempotencyKey: step.keys.tool,
  timeoutMs: step.timeLeftMs(),
});
