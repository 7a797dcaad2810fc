import type { Question } from '../api/run.ts';
import type { Step } from './context.ts';
import { during } from './failures.ts';
import type { Effects } from './effects.ts';
import { createValues } from './values.ts';

/** The text of the Query's input: as it came along, or by its hash, with its Secrets filled in. */
export async function ask({ ports, definitions }: Effects, step: Step, question: Question): Promise<string> {
  if (question.text !== undefined) {
    // A run sends its text only until somebody has answered.
    definitions.keep(question.hash, { kind: 'question', question: { text: question.text }, access: nobody });
    return question.text;
  }

  const { question: text, access } = await definitions.get(step, question.hash, 'question');
  return during('failed to resolve query input', () => createValues(ports, access, step).render(text));
}

/** Final text holds no Secrets: nobody's rights are needed to read it. */
const nobody = { namespace: '', serviceAccount: '' };
