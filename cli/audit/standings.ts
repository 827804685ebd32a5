/** The state of budgets, for `remit cost` and `remit status`. @module */
import * as z from "zod";
import { displayText } from "../../text/mod.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { spanText } from "../terminal/span.ts";

/** Share of a budget from which `remit status` reports it. */
const NEAR = 0.8;

const Standing = z.object({
  ...{ name: z.string(), per: z.string(), of: z.string(), most: z.number(), spent: z.number() },
  ...{ held: z.number(), endsAt: z.number().optional(), outAt: z.number().optional() },
});
/** A budget as the kernel reports it. */
export type Standing = z.infer<typeof Standing>;

/** Asks the kernel for all budgets. */
export async function budgetStandings(link: Pick<KernelLink, "ask">): Promise<readonly Standing[]> {
  return z.array(Standing).parse(await link.ask("budgets", null));
}

/** The budgets that are used up, or nearly. */
export function runningOut(standings: readonly Standing[]): readonly Standing[] {
  return standings.filter(({ spent, held, most }) =>
    spent + held > 0 && spent + held >= NEAR * most
  );
}

/** A budget's use and remainder, and when it will be used up. */
export function standingLine(budget: Standing, now: number): string {
  const { name, of, most, spent, held, outAt, endsAt } = budget;
  const left = Math.max(0, most - spent - held);
  const more = endsAt === undefined
    ? left === 0 ? ", used up" : ""
    : left === 0
    ? `, used up, goes on in ${spanText(endsAt - now)}`
    : outAt !== undefined
    ? `, used up in about ${spanText(outAt - now)}, should it go on so`
    : `, ends in ${spanText(endsAt - now)}`;
  const shown = displayText(name, { max: 300 });
  if (of === "money") {
    return `${shown}: ${(spent + held).toFixed(4)} spent or held, ${left.toFixed(4)} left${more}`;
  }
  const amount = (n: number): string =>
    of.endsWith("ytes") && n >= 1_000_000 ? `${Math.round(n / 100_000) / 10} MB` : String(n);
  return `${shown}: ${amount(spent + held)} used, ${amount(left)} left${more}`;
}
