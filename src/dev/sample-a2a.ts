import { startJournaledServer, type JournaledReply, type JournaledServer } from './journaled-server.ts';

/** Where sample 14 expects its A2A server. */
export const sampleA2aPort = 8768;

const card = {
  name: 'Haiku Poet',
  description: 'Answers in three lines.',
  version: '1.0.0',
  protocolVersion: '0.2.5',
  capabilities: {},
  defaultInputModes: ['text'],
  defaultOutputModes: ['text'],
  skills: [
    { id: 'haiku', name: 'Haiku', description: 'Writes a haiku', tags: ['poetry'], examples: ['Of the sea'] },
  ],
};

/** How often a task is asked for before it is completed. */
const pollsPerTask = 2;
const tasksKeptMax = 1_000;

interface Task {
  readonly text: string;
  polls: number;
}

/** The A2A server of the samples: a poet that takes a moment, so that its answers are tasks. */
export async function startSampleA2a(options: { readonly port: number }): Promise<JournaledServer> {
  /** By the id of the message that began it: a repeated message is the same task. */
  const tasks = new Map<string, Task>();

  return startJournaledServer(({ method, path, body }) => {
    if (method === 'GET') return path === '/.well-known/agent.json' ? json(card) : { status: 404 };
    const call = callIn(body);
    if (!call) return rpc(null, { error: { code: -32_700, message: 'no JSON-RPC call' } });

    switch (call.method) {
      case 'message/send': {
        const { messageId = '', parts = [] } = call.params?.message ?? {};
        const text = parts.map((part) => part.text ?? '').join('');
        if (!tasks.has(messageId)) tasks.set(messageId, { text, polls: 0 });
        if (tasks.size > tasksKeptMax) tasks.delete(tasks.keys().next().value as string);
        return rpc(call.id, { result: taskOf(messageId, 'working') });
      }
      case 'tasks/get': {
        const { id = '' } = call.params ?? {};
        const task = tasks.get(id);
        if (!task) return rpc(call.id, { error: { code: -32_001, message: `there is no task ${id}` } });
        task.polls += 1;
        return rpc(call.id, {
          result: task.polls < pollsPerTask ? taskOf(id, 'working') : completed(id, task.text),
        });
      }
      case 'tasks/cancel': {
        const { id = '' } = call.params ?? {};
        tasks.delete(id);
        return rpc(call.id, { result: taskOf(id, 'canceled') });
      }
      default:
        return rpc(call.id, { error: { code: -32_601, message: `there is no method ${call.method}` } });
    }
  }, options);
}

interface Call {
  readonly id: string | number | null;
  readonly method: string;
  readonly params?: {
    readonly id?: string;
    readonly message?: {
      readonly messageId?: string;
      readonly parts?: readonly { readonly text?: string }[];
    };
  };
}

function callIn(body: string): Call | undefined {
  try {
    const call = JSON.parse(body) as Partial<Call> | null;
    return typeof call?.method === 'string'
      ? { ...call, id: call.id ?? null, method: call.method }
      : undefined;
  } catch {
    return undefined;
  }
}

const taskOf = (id: string, state: string) => ({ kind: 'task', id, contextId: id, status: { state } });

const completed = (id: string, text: string) => ({
  ...taskOf(id, 'completed'),
  artifacts: [{ artifactId: id, parts: [{ kind: 'text', text: haiku(text) }] }],
});

const haiku = (text: string): string =>
  ['You ask, and I hear', text.replaceAll(/\s+/g, ' ').trim().slice(0, 80), 'Petals on the screen'].join(
    '\n',
  );

const rpc = (id: Call['id'], reply: object): JournaledReply => json({ jsonrpc: '2.0', id, ...reply });

const json = (value: object): JournaledReply => ({ body: JSON.stringify(value) });
