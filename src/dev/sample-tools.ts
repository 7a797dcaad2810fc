import { startJournaledServer, type JournaledReply, type JournaledServer } from './journaled-server.ts';

/** Where the samples expect their tools; a Tool's address cannot be a reference (contract section 1.6). */
export const sampleToolsPort = 8765;

/** The HTTP tools of the samples: `GET /weather?city=`, `POST /search {topic}`, `GET /word-count?text=`. */
export async function startSampleTools(options: { readonly port: number }): Promise<JournaledServer> {
  return startJournaledServer(({ method, path, body }) => {
    const { pathname, searchParams } = new URL(path, 'http://localhost');
    switch (`${method} ${pathname}`) {
      case 'GET /weather':
        return json(weather(searchParams.get('city') ?? ''));
      case 'POST /search':
        return json(facts(topicIn(body)));
      case 'GET /word-count':
        return json({ words: (searchParams.get('text') ?? '').split(/\s+/).filter(Boolean).length });
      default:
        return { ...json({ error: `there is no ${method} ${pathname}` }), status: 404 };
    }
  }, options);
}

/** The same for the same city, so that samples end alike every time. */
function weather(city: string): object {
  const skies = ['clear', 'cloudy', 'rain', 'snow showers'] as const;
  const mood = [...city].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0);
  return { city, sky: skies[mood % skies.length], celsius: (mood % 35) - 8 };
}

const facts = (topic: string): object => ({
  topic,
  facts: [
    `The oldest record about ${topic} is several centuries old.`,
    `Most people meet ${topic} by chance.`,
    `What keeps ${topic} going is unpaid care.`,
  ],
});

function topicIn(body: string): string {
  try {
    const { topic } = JSON.parse(body) as { topic?: unknown };
    return typeof topic === 'string' ? topic : '';
  } catch {
    return '';
  }
}

const json = (value: object): Exclude<JournaledReply, string> => ({ body: JSON.stringify(value) });
