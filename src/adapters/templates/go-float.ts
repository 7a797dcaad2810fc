/** A finite magnitude as decimal digits: 0.`digits` × 10^`point`, with no zero at either end; zero has no digits. */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

/** Doubles have no more decimals than this; further ones are zeros. */
const exactDecimalsMax = 1_100;

/**
 * Go's strconv.FormatFloat for a finite number without its sign. Without `precision` the fewest digits that name this
 * number and no other; with it exact rounding, halves to even (JavaScript's `toFixed` rounds them up).
 */
export function formatFloat(magnitude: number, verb: 'e' | 'f' | 'g', precision: number | undefined): string {
  const shortest = precision === undefined;
  switch (verb) {
    case 'f': {
      const exact = shortest ? shortestDecimal(magnitude) : exactDecimal(magnitude);
      const rounded = shortest ? exact : rounding(exact, exact.point + precision);
      return fixed(rounded, precision ?? Math.max(rounded.digits.length - rounded.point, 0));
    }
    case 'e': {
      const rounded = shortest
        ? shortestDecimal(magnitude)
        : rounding(exactDecimal(magnitude), precision + 1);
      return scientific(rounded, precision ?? Math.max(rounded.digits.length - 1, 0));
    }
    case 'g': {
      const wanted = precision === 0 ? 1 : precision;
      const rounded =
        wanted === undefined ? shortestDecimal(magnitude) : rounding(exactDecimal(magnitude), wanted);
      const { length } = rounded.digits;
      const exponent = rounded.point - 1;
      const wholeDigits = wanted !== undefined && wanted > length && length >= rounded.point;
      const limit = wanted === undefined ? 6 : wholeDigits ? length : wanted;
      if (exponent < -4 || exponent >= limit) return scientific(rounded, Math.max(length - 1, 0));
      return fixed(rounded, Math.max(length - rounded.point, 0));
    }
  }
}

function fixed({ digits, point }: Decimal, decimals: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  if (decimals === 0) return whole || '0';
  const zeros = '0'.repeat(Math.min(Math.max(-point, 0), decimals));
  const fraction = (zeros + digits.slice(Math.max(point, 0))).slice(0, decimals);
  return `${whole || '0'}.${fraction.padEnd(decimals, '0')}`;
}

function scientific({ digits, point }: Decimal, decimals: number): string {
  const exponent = digits === '' ? 0 : point - 1;
  const mantissa = decimals > 0 ? `.${digits.slice(1).padEnd(decimals, '0')}` : '';
  const sign = exponent < 0 ? '-' : '+';
  return `${digits[0] ?? '0'}${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function shortestDecimal(magnitude: number): Decimal {
  const [mantissa = '0', exponent = '0'] = magnitude.toExponential().split('e');
  return trimmed(mantissa.replace('.', ''), Number(exponent) + 1);
}

/** Every double is a whole number times a power of two, hence a finite decimal. */
function exactDecimal(magnitude: number): Decimal {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, magnitude);
  const raw = bits.getBigUint64(0);
  const exponentBits = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & 0xfffffffffffffn;
  const mantissa = exponentBits === 0 ? fraction : fraction | (1n << 52n);
  const exponent = (exponentBits === 0 ? 1 : exponentBits) - 1075;

  if (exponent >= 0) {
    const whole = (mantissa << BigInt(exponent)).toString();
    return trimmed(whole, whole.length);
  }
  const digits = (mantissa * 5n ** BigInt(-exponent)).toString();
  return trimmed(digits, digits.length + exponent);
}

function rounding({ digits, point }: Decimal, keep: number): Decimal {
  const count = Math.min(keep, exactDecimalsMax);
  if (count >= digits.length) return { digits, point };
  if (count < 0) return { digits: '', point: 0 };

  const next = digits.charCodeAt(count) - 48;
  const isHalf = next === 5 && count + 1 === digits.length;
  const isOdd = count > 0 && digits.charCodeAt(count - 1) % 2 === 1;
  const up = isHalf ? isOdd : next >= 5;
  const kept = digits.slice(0, count);
  if (!up) return trimmed(kept, point);

  const raised = (BigInt(kept || '0') + 1n).toString().padStart(count, '0');
  return trimmed(raised, point + raised.length - count);
}

function trimmed(digits: string, point: number): Decimal {
  const zeros = /^0*/.exec(digits)?.[0].length ?? 0;
  const rest = digits.slice(zeros).replace(/0+$/, '');
  return rest === '' ? { digits: '', point: 0 } : { digits: rest, point: point - zeros };
}
