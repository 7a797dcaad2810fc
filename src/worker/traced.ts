import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { conceal } from '../api/conceal.ts';
import type { KnownError, Ports } from '../activities/ports.ts';
import {
  replyAttributes,
  requestAttributes,
  tokenAttributes,
} from '../adapters/telemetry/model-attributes.ts';
import { targetSpanIdOf, traceIdOf, uidIn } from '../adapters/telemetry/span-ids.ts';
import { inTraceContext } from '../adapters/telemetry/trace-context.ts';
import type { SpanAttributes, TracedSpan, Tracing } from '../adapters/telemetry/tracing.ts';
import type { Question } from '../api/run.ts';

/** The attempt at an activity that this code runs in, and the Secrets it has read: none of them goes into its span. */
interface Call {
  readonly span: TracedSpan;
  readonly secrets: Set<string>;
}

const calls = new AsyncLocalStorage<Call>();

/**
 * A span for every attempt at a call, in the trace of its Query and under the span of its target, which the controller
 * sends when the run has ended (contract section 6.3). Calls for the Query as a whole are shown under its first target.
 */
export const spanPerCall =
  (tracing: Tracing): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const what = described(info.activityType, info.activityId, input.args[0] as CallInput | undefined);
        if (!what) return next(input);

        const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
        const span = tracing.begin({
          tracer: 'ark/controller',
          isCall: true,
          ...what,
          at: placeOf(workflowId, input.args[0] as CallInput | undefined),
          attributes: {
            'service.name': 'ark',
            component: 'ark-controller',
            ...what.attributes,
            'temporal.workflow.id': workflowId,
            'temporal.run.id': runId,
            'temporal.activity.id': info.activityId,
            'temporal.activity.attempt': info.attempt,
          },
        });
        const call = { span, secrets: new Set<string>() };
        try {
          const answer = await calls.run(call, () => inTraceContext(span.traceparent, () => next(input)));
          span.end();
          return answer;
        } catch (error) {
          // A failure leaves an activity without the values of Secrets.
          const { type, name, message } = error as Partial<KnownError> & Error;
          span.end({ type: type ?? name, message });
          throw error;
        }
      },
    },
  });

/** What the inputs of calls tell about themselves. */
interface CallInput {
  readonly question?: Question;
  readonly target?: number;
  readonly call?: { readonly tool: string };
}

/** An Evaluation has no target, and its call no parent. */
function placeOf(workflowId: string, input: CallInput | undefined) {
  const uid = uidIn(workflowId);
  const traceId = traceIdOf(uid);
  if (workflowId.startsWith('evaluation:')) return { traceId };
  return { traceId, parentId: targetSpanIdOf(uid, input?.question?.target ?? input?.target ?? 0) };
}

interface Described {
  readonly name: string;
  readonly attributes: SpanAttributes;
}

/** Undefined for what is no call. The second part of an activity's id names who makes it: `t003.critic.model.1`. */
function described(type: string, id: string, input: CallInput | undefined): Described | undefined {
  const speaker = id.split('.')[1] ?? '';
  switch (type) {
    case 'callModel':
      return { name: 'llm.chat_completion', attributes: { 'gen_ai.agent.name': speaker } };
    case 'selectSpeaker':
      return { name: 'llm.chat_completion', attributes: { 'team.name': speaker } };
    case 'callTool': {
      const tool = input?.call?.tool ?? speaker;
      const by = input?.call ? { 'gen_ai.agent.name': speaker } : {};
      const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool, ...by };
      return { name: `execute_tool ${tool}`, attributes };
    }
    case 'callEngine': {
      const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': speaker };
      return { name: `invoke_agent ${speaker}`, attributes };
    }
    case 'readMemory':
      return { name: 'memory.get_messages', attributes: {} };
    case 'writeMemory':
      return { name: 'memory.add_messages', attributes: {} };
    case 'judge':
    case 'evaluate':
      return { name: 'evaluator.evaluate', attributes: {} };
    default:
      return undefined;
  }
}

/** The same ports; the span of the call under way tells what was asked and answered, and never a Secret's value. */
export const traced = (ports: Ports): Ports => ({
  ...ports,
  secrets: {
    async read(...args) {
      const value = await ports.secrets.read(...args);
      calls.getStore()?.secrets.add(value);
      return value;
    },
  },
  models: {
    async complete(request, options) {
      tell(() => requestAttributes(request));
      const reply = await ports.models.complete(request, options);
      if (reply) tell(() => replyAttributes(reply));
      return reply;
    },
  },
  httpTools: {
    call: (tool, args, options) => usingTool('http', args, () => ports.httpTools.call(tool, args, options)),
  },
  mcp: {
    call: (server, tool, args, options) => {
      const about = { 'mcp.method.name': 'tools/call', 'mcp.server': `${server.namespace}/${server.name}` };
      return usingTool('mcp', args, () => ports.mcp.call(server, tool, args, options), about);
    },
  },
  builtIns: {
    run(builtIn, args) {
      tell(() => ({ 'gen_ai.tool.type': 'built-in', 'input.value': JSON.stringify(args) }));
      const result = ports.builtIns.run(builtIn, args);
      tell(() => ({ 'output.value': result.content }));
      return result;
    },
  },
  a2a: {
    async send(server, text, options) {
      tell(() => ({ 'input.value': text }));
      const answer = await ports.a2a.send(server, text, options);
      tell(() => ({ 'output.value': answer }));
      return answer;
    },
  },
  engines: {
    async execute(engine, request, options) {
      tell(() => ({ 'input.value': request.userInput, 'engine.protocol': engine.protocol }));
      const reply = await ports.engines.execute(engine, request, options);
      const { messages, usage } = reply;
      tell(() => ({ 'output.value': messages.at(-1)?.content, ...(usage && tokenAttributes(usage)) }));
      return reply;
    },
  },
  memories: {
    async read(memory, signal) {
      const remembered = await ports.memories.read(memory, signal);
      const { length } = remembered.messages;
      tell(() => ({ 'session.id': memory.session, 'memory.messages.count': length }));
      return remembered;
    },
    append(memory, messages, options) {
      tell(() => ({ 'session.id': memory.session, 'memory.messages.count': messages.length }));
      return ports.memories.append(memory, messages, options);
    },
  },
  evaluators: {
    async evaluate(address, request, options) {
      const reply = await ports.evaluators.evaluate(address, request, options);
      const { score, passed, usage } = reply;
      tell(() => ({
        'gen_ai.evaluation.score.value': score,
        'gen_ai.evaluation.passed': passed,
        ...(usage && tokenAttributes(usage)),
      }));
      return reply;
    },
  },
});

async function usingTool<R extends { readonly content: string }>(
  type: string,
  args: unknown,
  use: () => Promise<R>,
  about: SpanAttributes = {},
): Promise<R> {
  tell(() => ({ 'gen_ai.tool.type': type, ...about, 'input.value': JSON.stringify(args) }));
  const result = await use();
  tell(() => ({ 'output.value': result.content }));
  return result;
}

function tell(attributes: () => SpanAttributes): void {
  const call = calls.getStore();
  if (!call) return;
  const entries = Object.entries(attributes()).map(([name, value]) => [
    name,
    typeof value === 'string' ? conceal(value, call.secrets) : value,
  ]);
  call.span.set(Object.fromEntries(entries) as SpanAttributes);
}
