const charactersMax = 1_000;

/** What a far side said, fit to be shown: none of the secrets, however it was quoted, and cut to 1,000 characters. */
export function conceal(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [
    secret,
    secret.trim(),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ]);
  // The longest first: no part of one may be left standing where a shorter one is its beginning.
  const clean = [...new Set(forms)]
    .filter((form) => form !== '')
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, form) => rest.replaceAll(form, '[redacted]'), text);
  return clean.length <= charactersMax ? clean : `${clean.slice(0, charactersMax - 1)}…`;
}
