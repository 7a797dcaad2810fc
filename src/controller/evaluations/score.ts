const decimals = 4;

/**
 * A score as status holds it, between 0 and 1: ARK's own judge, and many others, count from 0 to 100. Undefined where the
 * evaluator gave no number; what it said exactly is in an annotation.
 */
export function scoreOf(said: string): string | undefined {
  const text = said.trim();
  if (/^(0(\.\d+)?|1(\.0+)?)$/.test(text)) return text;

  const [, digits, percent] = /^([+-]?\d*\.?\d+(?:e[+-]?\d+)?)\s*(%|\/\s*100)?$/i.exec(text) ?? [];
  const score = Number(digits);
  if (digits === undefined || !Number.isFinite(score)) return undefined;

  const part = percent || score > 1 ? score / 100 : score;
  return String(Number(Math.min(Math.max(part, 0), 1).toFixed(decimals)));
}
