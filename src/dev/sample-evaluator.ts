import { startJournaledServer, type JournaledReply, type JournaledServer } from './journaled-server.ts';

/** Where sample 16 expects its evaluator. */
export const sampleEvaluatorPort = 8770;

/** Words an answer must have to get all points. */
const enoughWords = 5;
const passingScore = 70;

interface Judged {
  /** Of a Query that lists its evaluators itself. */
  readonly responses?: readonly { readonly content?: string }[];
  /** Of an Evaluation. */
  readonly config?: { readonly output?: string };
}

/** The evaluator of the samples, at `/evaluate`: scores answers from 0 to 100, by their length. */
export async function startSampleEvaluator(options: { readonly port: number }): Promise<JournaledServer> {
  return startJournaledServer(({ method, path, body }) => {
    if (`${method} ${path}` !== 'POST /evaluate') return { status: 404 };
    const judged = judgedIn(body);
    return json(judged ? judgement(judged) : { error: 'the request is no JSON object' });
  }, options);
}

/** An evaluator that is told the name of a Query alone, and not its answers, lets it pass. */
function judgement({ responses, config = {} }: Judged): object {
  const texts =
    responses?.map(({ content = '' }) => content) ?? (config.output === undefined ? [] : [config.output]);
  const counts = texts.map((text) => text.split(/\s+/).filter(Boolean).length);
  const least = counts.length === 0 ? enoughWords : Math.min(...counts);
  const score = Math.round((Math.min(least, enoughWords) / enoughWords) * 100);
  return {
    score: String(score),
    passed: score >= passingScore,
    metadata: { reasoning: `the shortest answer has ${least} words, and ${enoughWords} are enough` },
  };
}

function judgedIn(body: string): Judged | undefined {
  try {
    const judged = JSON.parse(body) as unknown;
    return typeof judged === 'object' && judged !== null ? judged : undefined;
  } catch {
    return undefined;
  }
}

const json = (value: object): JournaledReply => ({ body: JSON.stringify(value) });
