/**
 * The text without any of the secrets, however a far side quoted them; of an address also without its host, by which
 * the system's errors name it.
 */
export function conceal(text: string, secrets: Iterable<string>): string {
  const forms = [...secrets].flatMap((secret) => [
    secret,
    secret.trim(),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    URL.parse(secret)?.hostname ?? '',
  ]);
  // The longest first, so that no part of one is left standing where a shorter one is its beginning.
  return [...new Set(forms)]
    .filter((form) => form !== '')
    .toSorted((one, other) => other.length - one.length)
    .reduce((clean, form) => clean.replaceAll(form, '[redacted]'), text);
}
