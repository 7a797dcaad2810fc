import type { ChosenSpeaker, SpeakerChoice } from '../api/run.ts';
import type { SelectorDefinition } from '../api/snapshot.ts';
import type { Message } from '../api/transcript.ts';
import { complete } from './complete.ts';
import { asStep } from './context.ts';
import type { Effects } from './effects.ts';
import { endpointOf } from './endpoint.ts';
import { CallFailure, during } from './failures.ts';
import type { SelectorData } from './ports.ts';
import { createValues } from './values.ts';

export const selectorQuestion = 'Select the next participant to respond.';

/** Used where a team has no `selectorPrompt` (contract section 4.12). */
export const defaultSelectorPrompt = `Several participants work on a task together, in a role play. Their roles are:
{{.Roles}}.

Read the conversation so far, then choose who should respond next.
Participants: {{.Participants}}
Reply with the name of that participant and nothing else.

{{.History}}

Choose who of {{.Participants}} should respond next. Reply with the name and nothing else.`;

/** Asks a team's model once who speaks next. Whether its answer names a member is not decided here. */
export const selectSpeaker =
  (effects: Effects) =>
  (input: SpeakerChoice): Promise<ChosenSpeaker> =>
    asStep(async (step) => {
      const { ports, definitions, transcripts } = effects;
      const selector = await definitions.get(step, input.definition, 'selector');
      const values = createValues(ports, selector.access, step);

      const [before, endpoint] = await Promise.all([
        transcripts.read(step, input.before),
        endpointOf(selector.model, values),
      ]);
      const prompt = ports.templates.renderSelector(
        selector.prompt ?? defaultSelectorPrompt,
        dataOf(selector, before),
      );
      const reply = await during('selector model call failed', () =>
        complete(ports, step, {
          endpoint,
          messages: [
            { role: 'system', content: prompt },
            { role: 'user', content: selectorQuestion },
          ],
          tools: [],
        }),
      );
      if (!reply) throw new CallFailure('ModelReplyInvalid', 'selector model returned no choices');
      return { answer: reply.message.content.trim(), ...(reply.usage && { usage: reply.usage }) };
    });

function dataOf({ members }: SelectorDefinition, before: readonly Message[]): SelectorData {
  return {
    Roles: members
      .map(({ name, description }) => (description ? `${name}: ${description}` : name))
      .join(', '),
    Participants: members.map(({ name }) => name).join(', '),
    History: before
      .filter(({ role }) => role === 'assistant' || role === 'user')
      .map((message) => `# ${speakerOf(message)}:\n${message.content}\n`)
      .join('\n'),
  };
}

const speakerOf = (message: Message): string =>
  message.role === 'assistant' ? (message.name ?? '') : message.role;
