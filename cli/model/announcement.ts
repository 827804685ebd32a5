/** What is said before the first text goes to a provider. @module */
import { DEAREST } from "../../contracts/model/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Screen } from "../powers.ts";
import type { AskedProvider } from "../../contracts/model/mod.ts";

const CHARS_A_TOKEN = 4;

/** About how many tokens a text has: 4 characters a token. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARS_A_TOKEN);
}

/** An amount in US dollars, small ones to a hundredth of a cent. */
export function usdText(value: number): string {
  return value < 0.01 && value > 0 ? value.toFixed(4) : value.toFixed(2);
}

/** What is about to leave. */
export interface Leaving {
  readonly request: string;
  /** The task's limit in US dollars. */
  readonly money: number;
  /** A conversation that is under way goes with it. */
  readonly goesOn?: boolean;
}

/** Lines about one provider. */
export function announcementLines(provider: AskedProvider, about: Leaving): readonly string[] {
  const { host, model, price, encrypted } = provider;
  const name = displayText(model, { max: 120 });
  const tokens = tokensOf(about.request);
  const { input, output } = price ?? DEAREST;
  const counted = price === undefined
    ? `price unknown: counted as ${input}/${output} USD a million tokens; set models.NAME.price in remit.yaml`
    : `${input}/${output} USD a million tokens in and out`;
  return [
    `text leaves this machine for ${displayText(host, { max: 200 })}, model ${name}${
      encrypted ? "" : ", and is NOT encrypted on its way"
    }`,
    `your words are about ${tokens} ${tokens === 1 ? "token" : "tokens"}, ${
      usdText(tokens * input / 1e6)
    } USD; ${
      about.goesOn === true ? "the conversation so far, instructions" : "instructions"
    } and tools go with them, counted below as they leave`,
    `${counted}; this task ends at ${about.money} USD`,
  ];
}

/** Says once, before the first request, where text goes and what that may cost. */
export function announce(
  screen: Pick<Screen, "say" | "paint">,
  providers: readonly AskedProvider[],
  about: Leaving,
): void {
  const shown = new Set<string>();
  for (const provider of providers) {
    const key = `${provider.host} ${provider.model}`;
    if (shown.has(key)) continue;
    shown.add(key);
    announcementLines(provider, about).forEach((line, n) =>
      screen.say(
        n === 0 ? `  ${screen.paint.yellow("→")} ${line}` : screen.paint.dim(`    ${line}`),
      )
    );
  }
  if (shown.size > 0) screen.say("");
}
