// Parses decimal numbers. AssemblyScript's own parseFloat is off by powers of ten for long ones.

/** Digits that are exact; further ones count as zeros. */
const EXACT_DIGITS: i32 = 18;

/** The number at the beginning of [at, at + bytes), in the form `-1.5e+3`; NaN for none. */
export function parseDecimal(at: usize, bytes: i32): f64 {
  let i = 0;
  const negative = bytes > 0 && load<u8>(at) == 0x2d;
  if (negative || (bytes > 0 && load<u8>(at) == 0x2b)) i++;
  let digits: u64 = 0;
  let kept = 0;
  let exponent = 0;
  let some = false;
  let behindPoint = false;
  for (; i < bytes; i++) {
    const byte = load<u8>(at + i);
    if (byte == 0x2e && !behindPoint) {
      behindPoint = true;
      continue;
    }
    if (byte < 0x30 || byte > 0x39) break;
    some = true;
    if (kept < EXACT_DIGITS) {
      digits = digits * 10 + (byte - 0x30);
      if (digits > 0) kept++;
      if (behindPoint) exponent--;
    } else if (!behindPoint) exponent++;
  }
  if (!some) return NaN;
  exponent += exponentAt(at + i, bytes - i);
  const value = scaled(<f64> digits, exponent);
  return negative ? -value : value;
}

function exponentAt(at: usize, bytes: i32): i32 {
  if (bytes < 2 || (load<u8>(at) | 0x20) != 0x65) return 0;
  const sign = load<u8>(at + 1);
  let value = 0;
  for (let i = sign == 0x2d || sign == 0x2b ? 2 : 1; i < bytes; i++) {
    const byte = load<u8>(at + i);
    if (byte < 0x30 || byte > 0x39) break;
    value = min(value * 10 + byte - 0x30, 10_000);
  }
  return sign == 0x2d ? -value : value;
}

/** Exact to the last digit where both factors are exact; else to the last one or two. */
function scaled(value: f64, exponent: i32): f64 {
  if (value == 0) return 0;
  for (; exponent > 300; exponent -= 300) value *= 1e300;
  for (; exponent < -300; exponent += 300) value /= 1e300;
  return exponent < 0 ? value / Math.pow(10, -exponent) : value * Math.pow(10, exponent);
}
