import { createHash } from 'node:crypto';
import { objectOf, sampleOf } from './sample-of.ts';
import type { ChatBody, ScriptedReply, WireMessage } from './chat-wire.ts';

/** The question of a team's selector (contract section 4.12). */
const selectorQuestion = 'Select the next participant to respond.';
/** A conversation with so many contributions has come to its point: who can end it does. */
const contributionsEnough = 3;
const endings = new Set(['terminate', 'terminate_team']);
const topicCharactersMax = 120;
const quoteCharactersMax = 160;
/** Words that tool names are made of and that say nothing about their use. */
const idleWords = new Set(['tool', 'http', 'call', 'custom', 'from', 'with', 'data']);

/**
 * What a sensible model might say to a request: always the same to the same request. It uses an offered tool once
 * where the prompt or the question speaks of it, ends the conversation with `terminate` once enough was said, and
 * otherwise says a sentence or two in its role.
 */
export function plausibleReply(body: ChatBody): ScriptedReply {
  const { messages, tools = [], response_format: format } = body;
  const prompt = messages.find(({ role }) => role === 'system')?.content ?? '';
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const question = messages[asked]?.content ?? '';
  if (question.trim() === selectorQuestion) return { content: nextParticipant(prompt) };

  const before = messages.slice(0, Math.max(asked, 0));
  const own = messages.slice(asked + 1);
  const used = new Set(own.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => call.function.name)));
  const offered = tools.map((tool) => tool.function).filter(({ name }) => !used.has(name));

  const wanted = offered.find(({ name }) => isOrdinary(name) && isSpokenOf(name, `${prompt}\n${question}`));
  if (wanted) {
    return {
      toolCalls: [{ name: wanted.name, arguments: objectOf(wanted.parameters ?? {}, question) }],
    };
  }
  const words = contribution(prompt, question, before, own);
  const contributions = before.filter(saysSomething);
  const end = offered.find(({ name }) => endings.has(name));
  if (contributions.length >= contributionsEnough && end)
    return { toolCalls: [{ name: end.name, arguments: { response: words } }] };

  const schema = format?.json_schema?.schema;
  return { content: schema ? JSON.stringify(sampleOf(schema, question)) : words };
}

const saysSomething = ({ role, content }: WireMessage): boolean => role === 'assistant' && Boolean(content);

const isOrdinary = (name: string): boolean => !endings.has(name) && name !== 'noop';

function isSpokenOf(tool: string, text: string): boolean {
  const spoken = text.toLowerCase();
  const telling = tool
    .toLowerCase()
    .split(/[-_.]/)
    .filter((word) => word.length >= 4 && !idleWords.has(word));
  return (
    spoken.includes(tool.toLowerCase()) ||
    telling.some((word) => spoken.includes(word)) ||
    /\btools?\b/.test(spoken)
  );
}

function contribution(
  prompt: string,
  question: string,
  before: readonly WireMessage[],
  own: readonly WireMessage[],
): string {
  const role = roleIn(prompt);
  const topic = clipped(question.split('\n')[0] ?? '', topicCharactersMax);
  const previous = before.findLast(saysSomething)?.name;
  const found = own.findLast((message) => message.role === 'tool')?.content;

  const opening = previous ? `As the ${role}, going on from what ${previous} said` : `As the ${role}`;
  const fact = found === undefined ? '' : isError(found) ? 'I could not look it up. ' : quoted(found);
  return `${fact}${opening}: ${pick(views, prompt + question + previous)(topic)}`;
}

/** What a run tells its model of a tool that failed and may fail. */
const isError = (found: string): boolean => found.startsWith('error: ');

const quoted = (found: string): string => `I looked it up and found: ${clipped(found, quoteCharactersMax)}. `;

const views = [
  (topic: string) =>
    `for "${topic}" I would take the smallest useful step first and check it before the next.`,
  (topic: string) => `"${topic}" comes down to three points: what is known, what is open, and who decides.`,
  (topic: string) =>
    `on "${topic}" the facts speak for a simple plan with one clear owner and an early review.`,
  (topic: string) =>
    `my advice on "${topic}" is to write down the goal, try it on one case, and keep what works.`,
] as const;

const pick = <T>(choices: readonly [T, ...T[]], seed: string): T =>
  choices[createHash('sha256').update(seed).digest().readUInt32BE() % choices.length] ?? choices[0];

/** "You are a careful editor. …" is a careful editor. */
function roleIn(prompt: string): string {
  const role = /\byou(?:'re| are)(?: now)? (?:an? |the )?([^.,;:!?\n]+)/i.exec(prompt)?.[1];
  return role ? clipped(role.trim(), 60) : 'assistant';
}

/** The participant after the one who spoke last, as far as the prompt tells; nobody has spoken: the first. */
function nextParticipant(prompt: string): string {
  const participants = participantsIn(prompt);
  const speakers = [...prompt.matchAll(/^# ([^\n:]+):$/gm)].map(([, name]) => name as string);
  const last = speakers.findLast((name) => participants.includes(name));
  return participants[last === undefined ? 0 : (participants.indexOf(last) + 1) % participants.length] ?? '';
}

/** The list that is announced as such, or else the last one that looks like names. */
function participantsIn(prompt: string): string[] {
  const found =
    announcedList.exec(prompt)?.[1] ?? proseList.exec(prompt)?.[1] ?? prompt.match(anyList)?.at(-1) ?? '';
  return found.split(', ').filter((name) => name !== '');
}

const word = '[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?';
const announcedList = new RegExp(`(?:participants?|one of|from)\\s*[:[(]+\\s*(${word}(?:, ${word})*)`, 'i');
const proseList = new RegExp(`(?:participants?|one of|from|between)\\s+(${word}(?:, ${word})+)`, 'i');
const anyList = new RegExp(`${word}(?:, ${word})+`, 'g');

const clipped = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1)}…`;
