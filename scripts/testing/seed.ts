import type { SuiteKind } from "./suite.ts";

/** Everyday and long runs use a fixed seed: accepting a change must not depend on luck. */
const FIXED_SEED = 1_123;
/** Upper bound of seeds, exclusive. */
const SEEDS = 2 ** 31;

/** The environment variable that holds the seed of a test process. */
export const SEED_VARIABLE = "REMIT_SEED";

/**
 * Returns the seed of all random choices of a run, such as properties and moments of kills:
 * `--seed=N`, else a fixed one, or one derived from `now` (milliseconds) for fuzz and endless runs.
 * Undefined when N is not a whole number below 2^31.
 */
export function seedOf(
  args: readonly string[],
  { kind, now }: { readonly kind: SuiteKind; readonly now: number },
): number | undefined {
  const given = args.find((argument) => argument.startsWith("--seed="))?.slice("--seed=".length);
  if (given === undefined) {
    return kind === "fuzz" || kind === "endless" ? now % SEEDS : FIXED_SEED;
  }
  return /^\d{1,10}$/.test(given) && Number(given) < SEEDS ? Number(given) : undefined;
}
