import { startJournaledServer, type JournaledReply, type JournaledServer } from './journaled-server.ts';

/** Where sample 15 expects its execution engine. */
export const sampleEnginePort = 8769;

interface Run {
  readonly agent?: { readonly name?: string; readonly prompt?: string };
  readonly userInput?: { readonly content?: string };
}

/** The execution engine of the samples: it runs an agent without asking any model. */
export async function startSampleEngine(options: { readonly port: number }): Promise<JournaledServer> {
  return startJournaledServer(({ method, path, body }) => {
    if (`${method} ${path}` !== 'POST /execute') return { status: 404 };
    const run = runIn(body);
    return run ? json(answer(run)) : json({ messages: [], error: 'the request is no JSON object' });
  }, options);
}

function answer({ agent = {}, userInput = {} }: Run): object {
  const { name = 'agent', prompt = '' } = agent;
  const { content = '' } = userInput;
  const [prompted, asked] = [words(prompt), words(content)];
  return {
    messages: [{ role: 'assistant', content: `${name}, run by an engine, was asked: ${content}`, name }],
    error: '',
    token_usage: {
      prompt_tokens: prompted + asked,
      completion_tokens: asked,
      total_tokens: prompted + 2 * asked,
    },
  };
}

const words = (text: string): number => text.split(/\s+/).filter(Boolean).length;

function runIn(body: string): Run | undefined {
  try {
    const run = JSON.parse(body) as unknown;
    return typeof run === 'object' && run !== null ? run : undefined;
  } catch {
    return undefined;
  }
}

const json = (value: object): JournaledReply => ({ body: JSON.stringify(value) });
