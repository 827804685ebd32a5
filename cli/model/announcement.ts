/** Announces where text goes, and its cost, before the first request. @module */
import { DEAREST } from "../../contracts/model/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Screen } from "../powers.ts";
import type { AskedProvider } from "../../contracts/model/mod.ts";

const CHARS_PER_TOKEN = 4;

/** Estimated tokens of a text: one for 4 characters. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** US dollars as text: two decimals, four below a cent. */
export function usdText(value: number): string {
  return value < 0.01 && value > 0 ? value.toFixed(4) : value.toFixed(2);
}

/** The text that is about to leave this machine. */
export interface Leaving {
  readonly request: string;
  /** The task's limit in US dollars. */
  readonly money: number;
  /** Whether an earlier conversation goes with the request. */
  readonly goesOn?: boolean;
}

/** Lines about where text goes, its cost and the task's limit, for one provider. */
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

/** Prints {@link announcementLines} once for each provider and model. */
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
