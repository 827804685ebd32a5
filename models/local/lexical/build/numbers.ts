/** Numbers that are the same on every machine: additions, products, quotients and roots, no more. @module */

const LN2 = 0.6931471805599453;

/** The natural logarithm of `x` > 0. `Math.log` may differ between engines in its last digit. */
export function ln(x: number): number {
  let exponent = 0;
  let rest = x;
  for (; rest > 1.5; rest /= 2) exponent += 1;
  for (; rest < 0.75; rest *= 2) exponent -= 1;
  const y = (rest - 1) / (rest + 1);
  let [term, sum] = [y, 0];
  for (let n = 1; n < 40; n += 2) {
    sum += term / n;
    term *= y * y;
  }
  return exponent * LN2 + 2 * sum;
}

/** Numbers +1 and -1 in an order that `seed` decides. */
export function signs(length: number, seed: number): Float32Array {
  let state = seed >>> 0;
  return Float32Array.from({ length }, () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) & 1) === 1 ? 1 : -1;
  });
}
