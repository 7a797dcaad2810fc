import { Client, Connection } from '@temporalio/client';
import type { ScriptedAnswer } from '../../src/dev/scripted-model.ts';
import { startCountingTool } from '../fakes/counting-tool.ts';
import { startSampleEvaluator } from '../../src/dev/sample-evaluator.ts';
import type { JournaledServer } from '../../src/dev/journaled-server.ts';
import type { ProcessName } from '../../src/dev/stack.ts';
import type { QueryStatus } from '../../src/api/query.ts';
import { withSampleServices } from './sample-services.ts';
import { waitFor, withStack } from './stack.ts';

const teams = 20;
const members = ['one', 'two', 'three', 'four', 'five', 'six'];
const callMs = 400;

const cluster = withStack({ workers: 2 });
/** Every member uses the tool once, then says what it is and how many it heard before. */
const services = withSampleServices(cluster, {
  delayMs: callMs,
  script: ({ body }): ScriptedAnswer => {
    const member = /member (\w+)/.exec(body.messages[0]?.content ?? '')?.[1] ?? '';
    const asked = body.messages.findLastIndex(({ role }) => role === 'user');
    const question = body.messages[asked]?.content ?? '';
    if (!body.messages.slice(asked).some(({ role }) => role === 'tool')) {
      return { toolCalls: [{ name: 'tick', arguments: { who: `${question}/${member}` } }] };
    }
    const heard = body.messages
      .slice(0, asked)
      .filter(({ role, content }) => role === 'assistant' && content).length;
    return { content: `${question}: ${member} heard ${heard}` };
  },
});
let tool: JournaledServer;
let judge: JournaledServer;
beforeAll(async () => {
  [tool, judge] = await Promise.all([startCountingTool(), startSampleEvaluator({ port: 0 })]);
});
afterAll(() => Promise.all([tool.close(), judge.close()]));

const resource = (kind: string, name: string, spec: object) => ({
  apiVersion: 'ark.mckinsey.com/v1alpha1',
  kind,
  metadata: { name },
  spec,
});

test('whatever is killed, and whenever: every Query is answered right, and no finished call is made again', async () => {
  const tick = {
    type: 'http',
    description: 'Counts.',
    http: { url: `${tool.url}/tick?who={who}` },
    inputSchema: { type: 'object', properties: { who: { type: 'string' } } },
  };
  const definitions = [
    resource('Tool', 'tick', tick),
    ...members.map((name) =>
      resource('Agent', name, {
        prompt: `You are member ${name}.`,
        tools: [{ type: 'custom', name: 'tick' }],
      }),
    ),
    resource('Memory', 'kept', { address: { value: cluster.stack.brokerUrl } }),
    resource('Evaluator', 'judge', { address: { value: `${judge.url}/evaluate` } }),
    resource('Team', 'sextet', {
      strategy: 'sequential',
      members: members.map((name) => ({ type: 'agent', name })),
    }),
  ];
  const queries = Array.from({ length: teams }, (_, n) =>
    resource('Query', `case-${n}`, {
      input: `case-${n}`,
      timeout: '30m',
      memory: { name: 'kept' },
      sessionId: `case-${n}`,
      evaluators: [{ name: 'judge' }],
      targets: [{ type: 'team', name: 'sextet' }],
    }),
  );
  const apply = (objects: object[]) =>
    cluster.kubectl(['apply', '-f', '-'], objects.map((object) => JSON.stringify(object)).join('\n'));
  await apply(definitions);
  await apply(queries);

  // Between kills the teams get on by a random number of calls; a failure prints what was done.
  const victims: ProcessName[] = [
    'worker',
    'controller',
    'temporal',
    'worker-2',
    'broker',
    'worker',
    'broker',
    'controller',
  ];
  const log: string[] = [];
  for (const victim of victims) {
    const some = 3 + Math.floor(Math.random() * 20);
    const until = Math.min(services.model.total().finished + some, teams * 12 - some);
    await waitFor(() => services.model.total().finished >= until, {
      what: `call ${until}, after ${log.join(', ')}`,
      timeoutMs: 300_000,
    });
    log.push(`${victim} at ${services.model.total().finished}`);
    await cluster.stack.kill(victim, 'SIGKILL');
    await cluster.stack.ready(victim);
  }

  const statuses = await waitFor(
    async () => {
      const { items } = JSON.parse(await cluster.kubectl(['get', 'queries', '-o', 'json'])) as {
        items: { metadata: { name: string }; status?: Partial<QueryStatus> }[];
      };
      const all = new Map(items.map(({ metadata, status = {} }) => [metadata.name, status]));
      return (
        [...all.values()].every(({ phase = '' }) => ['done', 'error', 'canceled'].includes(phase)) && all
      );
    },
    { what: `all Queries to end after ${log.join(', ')}`, timeoutMs: 1_200_000, everyMs: 1_000 },
  );

  for (let n = 0; n < teams; n++) {
    const { phase, responses, tokenUsage, evaluations } = statuses.get(`case-${n}`) ?? {};
    expect({
      log,
      phase,
      judged: evaluations?.map(({ evaluatorName, passed }) => [evaluatorName, passed]),
      content: responses?.[0]?.content,
      calls: [tokenUsage?.modelCalls, tokenUsage?.toolCalls],
    }).toEqual({
      log,
      phase: 'done',
      judged: [['judge', true]],
      content: `case-${n}: six heard 5`,
      calls: [12, 6],
    });
  }
  // What was said is remembered once, and in order.
  for (let n = 0; n < teams; n++) {
    expect({ log, remembered: await remembered(`case-${n}`) }).toEqual({
      log,
      remembered: ['user', ...members.flatMap(() => ['assistant', 'tool', 'assistant'])],
    });
  }
  // What was recorded was never asked again: no call reached a server more often than Temporal handed it out, and each was
  // recorded once. (An answer that went out while its worker died was not recorded, and had to be asked for again.)
  const attempts = await recordedAttempts();
  const memoryAndJudge = 3;
  expect(attempts.size).toBe(teams * (12 + 6 + memoryAndJudge));
  // The controller asks each Model whether it answers; no run knows of that.
  const tooOften = [...services.model.calls(), ...tool.calls(), ...judge.calls()].filter(
    ([key, { started }]) => !key.startsWith('probe-') && started > (attempts.get(key) ?? 0),
  );
  expect({ log, tooOften }).toEqual({ log, tooOften: [] });
}, 3_600_000);

async function remembered(session: string): Promise<readonly string[]> {
  const response = await fetch(`${cluster.stack.brokerUrl}/messages/${session}`);
  const { messages } = (await response.json()) as { messages: readonly { role: string }[] };
  return messages.map(({ role }) => role);
}

/** How often Temporal handed out each call until its answer was recorded, by the call's idempotency key. */
async function recordedAttempts(): Promise<Map<string, number>> {
  const attempts = new Map<string, number>();
  const connection = await Connection.connect({ address: cluster.stack.temporalAddress });
  const { workflow } = new Client({ connection });
  for await (const { workflowId, runId } of workflow.list()) {
    const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
    const calls = new Map<string, { readonly id: string; readonly type: string; attempt: number }>();
    for (const { eventId, activityTaskScheduledEventAttributes: call, ...event } of events ?? []) {
      if (call)
        calls.set(String(eventId), {
          id: call.activityId ?? '',
          type: call.activityType?.name ?? '',
          attempt: 0,
        });
      const started = event.activityTaskStartedEventAttributes;
      const begun = calls.get(String(started?.scheduledEventId));
      if (begun) begun.attempt = started?.attempt ?? 0;
      const answered = calls.get(String(event.activityTaskCompletedEventAttributes?.scheduledEventId));
      if (answered)
        attempts.set(`${answered.type === 'callTool' ? workflowId : runId}:${answered.id}`, answered.attempt);
    }
  }
  await connection.close();
  return attempts;
}
