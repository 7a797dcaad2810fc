import { conceal } from '../../api/conceal.ts';

const charactersMax = 1_000;

/** What a far side said, fit to be shown in status: none of the secrets, and cut to 1,000 characters. */
export function fitToShow(text: string, secrets: readonly string[]): string {
  const clean = conceal(text, secrets);
  return clean.length <= charactersMax ? clean : `${clean.slice(0, charactersMax - 1)}…`;
}
