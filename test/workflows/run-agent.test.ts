import type { Message, ToolCall } from '../../src/api/transcript.ts';
import { runAgent, type AgentSteps } from '../../src/workflows/run-agent.ts';

const wish = (...tools: string[]): ToolCall[] =>
  tools.map((name, index) => ({ id: `c${index}`, name, arguments: '{}' }));

/** A model that answers from a script, text that begins with `bad` in the wrong shape; tools answer with their name. */
function agent(
  script: (string | ToolCall[])[],
  tools: Partial<Record<string, 'fails' | 'ends'>> = {},
  toolRounds = 5,
  forgiven: readonly string[] = [],
) {
  const log: Message[] = [];
  const keep = (message: Message) => [{ from: log.push(message) - 1, to: log.length }];
  const views: (readonly object[])[] = [];
  const used: string[] = [];
  const steps: AgentSteps = {
    toolRounds,
    speaker: 'default/ann',
    async callModel(own) {
      views.push(own);
      const reply = script.shift();
      if (reply === undefined) return { failure: { type: 'ModelBadRequest', message: 'POST "x": 400' } };
      const message =
        typeof reply === 'string'
          ? ({ role: 'assistant', content: reply } as const)
          : ({ role: 'assistant', content: '', toolCalls: reply } as const);
      const problem = message.content.startsWith('bad') ? 'It is bad.' : undefined;
      // Why it says that it stopped is nothing to go by.
      const finishReason = typeof reply === 'string' ? 'length' : 'stop';
      return { reply: { message, finishReason, ...(problem && { problem }) }, at: keep(message) };
    },
    async useTool(call) {
      used.push(call.name);
      if (tools[call.name] === 'fails')
        return { failure: { type: 'ToolRejected', message: 'HTTP error 404' } };
      const message = { role: 'tool', content: call.name, toolCallId: call.id } as const;
      return { reply: { message, ends: tools[call.name] === 'ends' }, at: keep(message) };
    },
    isForgiven: (tool) => forgiven.includes(tool),
    note: keep,
  };
  return { steps, log, views, used };
}

const answeredIds = (log: readonly Message[]) =>
  log.filter(({ role }) => role === 'tool').map((m) => 'toolCallId' in m && m.toolCallId);

test('answers at once when the model asks for no tool', async () => {
  const { steps } = agent(['hello']);
  expect(await runAgent(steps)).toEqual({
    said: [{ from: 0, to: 1 }],
    last: { role: 'assistant', content: 'hello' },
    ends: false,
  });
});

test('runs the tools in the order asked, and the model hears everything said in the turn', async () => {
  const { steps, log, views } = agent([wish('search', 'add'), 'done']);
  const turn = await runAgent(steps);
  expect(log.map(({ content }) => content)).toEqual(['', 'search', 'add', 'done']);
  expect(views).toEqual([[], [{ from: 0, to: 3 }]]);
  expect(turn.last?.content).toBe('done');
});

test('a tool that ends the conversation has the last word: no other is used, though every call is answered', async () => {
  const { steps, log, used } = agent([wish('search', 'terminate', 'add')], { terminate: 'ends' });
  const turn = await runAgent(steps);
  expect(turn).toMatchObject({ ends: true, last: { content: 'terminate' }, said: [{ from: 0, to: 4 }] });
  expect(used).toEqual(['search', 'terminate']);
  expect(answeredIds(log)).toEqual(['c0', 'c1', 'c2']);
  expect(log.at(-1)?.content).toBe('not called: the conversation has ended');
});

test('a failing tool fails the turn, with no other used, and keeps what was said before', async () => {
  const { steps, used } = agent([wish('search', 'broken', 'add')], { broken: 'fails' });
  expect(await runAgent(steps)).toMatchObject({
    said: [{ from: 0, to: 2 }],
    last: { content: 'search' },
    failure: { type: 'ToolRejected', message: 'HTTP error 404' },
  });
  expect(used).toEqual(['search', 'broken']);
});

test('a failing model is reported with the agent’s name', async () => {
  const { steps } = agent([]);
  expect((await runAgent(steps)).failure).toEqual({
    type: 'ModelBadRequest',
    message: 'agent default/ann execution failed: POST "x": 400',
  });
});

test('a model that never stops asking for tools meets the bound by name', async () => {
  const { steps, log } = agent(
    Array.from({ length: 9 }, () => wish('search')),
    {},
    3,
  );
  const turn = await runAgent(steps);
  expect(turn.failure?.type).toBe('ToolRoundLimit');
  expect(log).toHaveLength(6);
});

describe('an answer of the wrong shape', () => {
  test('is given back once: the model hears of it, nobody else does', async () => {
    const { steps, log, views } = agent(['bad', 'good']);
    expect(await runAgent(steps)).toEqual({
      said: [{ from: 2, to: 3 }],
      last: { role: 'assistant', content: 'good' },
      ends: false,
    });
    expect(views).toEqual([[], [{ from: 0, to: 2 }]]);
    expect(log[1]).toEqual({
      role: 'user',
      content:
        'Your answer does not have the form that was asked for. It is bad. Answer again, with nothing but JSON of that form.',
    });
  });

  test('given twice fails the turn, and is kept as what was said last', async () => {
    const { steps, log } = agent(['bad', 'bad again', 'never asked']);
    expect(await runAgent(steps)).toEqual({
      said: [{ from: 2, to: 3 }],
      last: { role: 'assistant', content: 'bad again' },
      ends: false,
      failure: {
        type: 'OutputInvalid',
        message:
          'agent default/ann answered 2 times in another form than its outputSchema asks for: It is bad.',
      },
    });
    expect(log).toHaveLength(3);
  });

  test('keeps its place among what the model hears, also where it goes back to its tools', async () => {
    const { steps, views } = agent([wish('search'), 'bad', wish('add'), 'good']);
    expect((await runAgent(steps)).said).toEqual([
      { from: 0, to: 2 },
      { from: 4, to: 7 },
    ]);
    expect(views.at(-1)).toEqual([{ from: 0, to: 6 }]);
  });

  test('is given back in the last round, too', async () => {
    const { steps } = agent(['bad', 'good'], {}, 1);
    expect(await runAgent(steps)).toMatchObject({ last: { content: 'good' } });
    const stubborn = agent(['bad', wish('search'), wish('search')], {}, 1);
    expect((await runAgent(stubborn.steps)).failure?.type).toBe('ToolRoundLimit');
  });
});

test('a forgiven tool answers with its error, and the tools after it are used', async () => {
  const { steps, log } = agent([wish('broken', 'search'), 'done'], { broken: 'fails' }, 5, ['broken']);
  expect(await runAgent(steps)).toMatchObject({ said: [{ from: 0, to: 4 }], last: { content: 'done' } });
  expect(log[1]).toEqual({ role: 'tool', toolCallId: 'c0', content: 'error: HTTP error 404' });
  expect(answeredIds(log)).toEqual(['c0', 'c1']);
});
