import type { ToolReply, ToolUse } from '../api/run.ts';
import type {
  Access,
  HttpToolDefinition,
  McpServerDefinition,
  McpToolDefinition,
  ToolDefinition,
} from '../api/snapshot.ts';
import type { ToolCall } from '../api/transcript.ts';
import { answerInto } from './answer-into.ts';
import type { Step } from './context.ts';
import type { Effects } from './effects.ts';
import { CallFailure, during, isRemoteError, toolFailure, uncertain } from './failures.ts';
import type { CallOptions, ResolvedHttpTool, ResolvedMcpServer } from './ports.ts';
import { ask } from './question.ts';
import { createValues } from './values.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Uses one tool once: as a model wished, or with a Query's own input as its arguments. */
export const callTool =
  (effects: Effects) =>
  (input: ToolUse): Promise<ToolReply> =>
    answerInto(effects, input.slot, (step) =>
      notingThatNothingWasDone(step, () =>
        input.call
          ? useForAgent(effects, step, input.definition, input.call)
          : during('tool execution failed', () => useForQuery(effects, step, input)),
      ),
    );

/** The answer goes back to the model under the id of its call (contract section 4.6). */
async function useForAgent(
  effects: Effects,
  step: Step,
  hash: ToolUse['definition'],
  { tool: name, slot, index }: NonNullable<ToolUse['call']>,
): Promise<ToolReply> {
  const [agent, wish] = await Promise.all([
    effects.definitions.get(step, hash, 'agent'),
    wishAt(effects, step, slot, index),
  ]);
  // Where several entries of an agent name the same tool, the last one counts (contract section 4.9).
  const tool = agent.tools.findLast((offered) => offered.name === name);
  if (!tool) throw new CallFailure('ToolNotFound', `tool ${name} not found`);

  const { content, ends } = await during(`tool ${name}`, () =>
    use(effects, step, tool, agent.access, argumentsOf(tool, wish.arguments)),
  );
  return { message: { role: 'tool', content, toolCallId: wish.id }, ...(ends && { ends }) };
}

async function wishAt({ transcripts }: Effects, step: Step, slot: number, index: number): Promise<ToolCall> {
  const [message] = await transcripts.read(step, [{ from: slot, to: slot + 1 }]);
  const wish = message?.role === 'assistant' ? message.toolCalls?.[index] : undefined;
  if (!wish) {
    throw new CallFailure(
      'InternalError',
      `slot ${slot} of run ${step.run.runId} holds no tool call ${index}; report this, with the run's history`,
    );
  }
  return wish;
}

/** The tool's words are the Query's answer (contract section 4.3). */
async function useForQuery(effects: Effects, step: Step, input: ToolUse): Promise<ToolReply> {
  const { tool, access } = await effects.definitions.get(step, input.definition, 'tool');
  const question = await ask(effects, step, input.question);

  const { content, ends } = await use(
    effects,
    step,
    tool,
    access,
    parsedObject(question) ?? { input: question },
  );
  return { message: { role: 'assistant', content }, ...(ends && { ends }) };
}

/** The tool's content, filtered where the agent says so, and never that of a call that failed. */
async function use(
  { ports }: Effects,
  step: Step,
  tool: ToolDefinition,
  access: Access,
  args: Arguments,
): Promise<{ readonly content: string; readonly ends?: boolean }> {
  const answer = await answerOf({ ports }, step, tool, access, args);
  if (!tool.filters) return answer;
  return { ...answer, content: await ports.filters.apply(tool.filters, answer.content, step.signal) };
}

async function answerOf(
  { ports }: Pick<Effects, 'ports'>,
  step: Step,
  tool: ToolDefinition,
  access: Access,
  args: Arguments,
): Promise<{ readonly content: string; readonly ends?: boolean }> {
  switch (tool.type) {
    case 'built-in':
      try {
        return ports.builtIns.run(tool.builtIn, args);
      } catch (error) {
        throw new CallFailure('ToolArgumentsInvalid', error instanceof Error ? error.message : String(error));
      }
    case 'http': {
      const resolve = () => resolveTool({ ports }, step, tool, access);
      return useOnce(step, tool, resolve, (resolved, options) =>
        ports.httpTools.call(resolved, args, options),
      );
    }
    case 'mcp': {
      const resolve = () => resolveServer({ ports }, step, tool.server, access);
      return useOnce(step, tool, resolve, (server, options) =>
        ports.mcp.call(server, tool.toolName, args, { ...options, timeoutMs: step.timeLeftMs() }),
      );
    }
  }
}

/** Uses a tool that may have side effects; what it needs is read before, so that nothing was done where that fails. */
async function useOnce<Resolved>(
  step: Step,
  tool: HttpToolDefinition | McpToolDefinition,
  resolve: () => Promise<Resolved>,
  call: (resolved: Resolved, options: CallOptions) => Promise<{ readonly content: string }>,
): Promise<{ readonly content: string }> {
  refuseToRepeat(step, tool);
  const resolved = await resolve();
  try {
    const { content } = await call(resolved, { signal: step.signal, idempotencyKey: step.keys.tool });
    return { content };
  } catch (error) {
    throw isRemoteError(error) ? toolFailure(error, tool.repeatable) : error;
  }
}

/**
 * An attempt that ended without a word (its worker died, or was cut off) may have reached the tool. One that did not
 * reach it, and lived to say so, has left a note with its number.
 */
function refuseToRepeat(
  { attempt, noted }: Step,
  { name, repeatable }: HttpToolDefinition | McpToolDefinition,
): void {
  if (repeatable || attempt === 1) return;
  if (JSON.stringify(noted) === JSON.stringify(nothingDone(attempt - 1))) return;
  throw new CallFailure('ToolUncertain', uncertain(`attempt ${attempt - 1} at tool ${name} was lost`));
}

/**
 * The server keeps the note with the failure. A failure that is retried has done nothing at a tool that must not be
 * repeated: one that may have is `ToolUncertain`, and final. A cancelled call (the worker stops) may have arrived.
 */
async function notingThatNothingWasDone<R>(step: Step, effect: () => Promise<R>): Promise<R> {
  try {
    return await effect();
  } catch (error) {
    if (!step.signal.aborted) step.note(nothingDone(step.attempt));
    throw error;
  }
}

const nothingDone = (attempt: number) => ({ nothingDoneIn: attempt });

async function resolveTool(
  { ports }: Pick<Effects, 'ports'>,
  step: Step,
  tool: HttpToolDefinition,
  access: Access,
): Promise<ResolvedHttpTool> {
  const values = createValues(ports, access, step);
  const [headers, bodyParameters] = await Promise.all([
    values.headers(tool.headers),
    during('failed to resolve body template: failed to resolve body parameters', () =>
      values.record(tool.bodyParameters, (name) => `failed to resolve parameter ${name}`),
    ),
  ]);
  return { ...tool, headers, bodyParameters };
}

async function resolveServer(
  { ports }: Pick<Effects, 'ports'>,
  step: Step,
  server: McpServerDefinition,
  access: Access,
): Promise<ResolvedMcpServer> {
  const values = createValues(ports, access, step);
  const [address, headers] = await Promise.all([values.text(server.address), values.headers(server.headers)]);
  return { ...server, address, headers };
}

/** HTTP tools insist on an object or nothing (contract section 4.8); the others make do with what they get (4.9, 4.10). */
function argumentsOf(tool: ToolDefinition, text: string): Arguments {
  if (text.trim() === '' || text.trim() === 'null') return {};

  const parsed = parsedObject(text);
  if (parsed) return parsed;
  if (tool.type !== 'http') return {};
  throw new CallFailure(
    'ToolArgumentsInvalid',
    `failed to parse arguments: the model sent ${JSON.stringify(text.slice(0, 100))}, which is not a JSON object`,
  );
}

function parsedObject(text: string): Arguments | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Arguments)
      : undefined;
  } catch {
    return undefined;
  }
}
