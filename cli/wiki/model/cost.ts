/** What a model will take, before it is asked: tokens, price, time, and where text goes. @module */
import { displayText } from "../../../text/mod.ts";
import type { Command } from "../../command.ts";
import { type AskedModel, sayWhere, usd } from "./ask.ts";

/** What is planned. */
export interface PlannedCost {
  /** What is read, in words. */
  readonly reads: string;
  /** Tokens, as far as can be told before. */
  readonly input: number;
  readonly output: number;
  /** US dollars. */
  readonly maxCost?: number | undefined;
}

/** Tokens a second that a model writes, as a guess for how long it takes. */
const SPEED = { remote: 60, local: 12 };

/** Says it. */
export function sayCost(
  command: Command,
  model: AskedModel,
  { reads, input, output, maxCost }: PlannedCost,
): void {
  const { say, paint } = command.hands.screen;
  const remote = model.providers.length > 0;
  const price = remote
    ? `at most ${usd(model.priceOf({ input, output }))}`
    : "free, on this machine";
  say(paint.bold(`model ${displayText(model.name, { max: 100 })}`));
  say(`  reads    ${reads}`);
  say(`  tokens   about ${input} in, at most ${output} out`);
  say(`  price    ${price}${maxCost === undefined ? "" : `; stops at ${usd(maxCost)}`}`);
  say(`  time     about ${spanText(output / (remote ? SPEED.remote : SPEED.local))}`);
  sayWhere(command, model.providers);
}

function spanText(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}
