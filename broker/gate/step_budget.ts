/** Gate step 6: budget and rate left. @module */
import type { ChargeableUsage, EffectClass } from "../../contracts/mod.ts";
import type { JudgeParts, Known, Read, Refusal } from "./parts.ts";
import { refuse } from "./refusal.ts";

/** Refuses what would exceed a limit of the process or of an ancestor. Charges nothing. */
export function overBudget(
  processes: JudgeParts["processes"],
  known: Known,
  wants: { readonly read: Read; readonly effect: EffectClass; readonly question: boolean },
): Refusal | undefined {
  const { read, effect, question } = wants;
  const charge: Partial<ChargeableUsage> = {
    call: effect,
    // A measure before the writing: what is staged comes for the most part from the arguments.
    ...(effect === "stage" ? { writtenBytes: read.argumentsText.length } : {}),
    ...(question ? { questions: 1 } : {}),
  };
  const limit = processes.wouldExceed(known.process.pid, charge);
  if (limit === undefined) return undefined;
  return refuse(
    6,
    `Cannot call "${known.tool}": the budget is used up (${limit}); a person can extend it`,
    { code: "budgetExhausted", rule: `built-in: limit ${limit}` },
  );
}
