import type { SuiteKind } from "./suite.ts";

/** Everyday and long runs: whether a change is taken must not hang on luck. */
const FIXED_SEED = 1_123;
/** Seeds are below this. */
const SEEDS = 2 ** 31;

/** The variable that tells a test process what its random choices follow from. */
export const SEED_VARIABLE = "REMIT_SEED";

/**
 * What all that is random in a run follows from, properties and moments of kills: `--seed=N`, else a fixed number, or
 * one of the time (`now`, milliseconds) where faults are looked for. Undefined when N is no whole number below 2^31.
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
