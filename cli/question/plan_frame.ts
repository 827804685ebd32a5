/** The calls that a planned program may make, as lines of a question. @module */
import type { Plan } from "../../contracts/authority/plan.ts";
import { displayText } from "../../text/mod.ts";

type Site = Plan["sites"][number];

/** A line; `look`: the reader should check it, because its value is not in the request. */
export interface PlanLine {
  readonly text: string;
  readonly look: boolean;
}

const BECOMES: Readonly<Record<Site["becomes"], string>> = {
  passes: "needs no answer",
  covered: "your yes answers it",
  asks: "asks each time",
  refused: "will be refused",
};

/** A plan's lines: each call with its count and condition, then its values with their origin. */
export function planLines({ sites }: Plan): readonly PlanLine[] {
  return sites.flatMap((site) => {
    const { atMost, under, becomes } = site;
    const often = atMost === 1 ? "once" : `at most ${atMost} times`;
    const depends = under.length === 0
      ? ""
      : `, as ${callsOf(under)} ${under.length === 1 ? "says" : "say"}`;
    const head = `${site.site}  ${site.tool}  ${often}${depends}; ${BECOMES[becomes]}`;
    return [
      { text: displayText(head, { max: 400 }), look: becomes === "refused" },
      ...site.arguments.map((argument) => lineOf(argument)),
    ];
  });
}

function lineOf({ name, origin, value, from = [] }: Site["arguments"][number]): PlanLine {
  const shown = value === undefined ? name : `${name}: ${value}`;
  const words = origin === "request"
    ? "stands in your request"
    : origin === "planner"
    ? "chosen by the agent before it read anything"
    : from.length === 0
    ? "computed by the program from its own text"
    : `from what ${callsOf(from)} ${from.length === 1 ? "brings" : "bring"}`;
  return {
    text: displayText(`     ${shown}  ← ${words}`, { max: 400 }),
    look: origin !== "request",
  };
}

function callsOf(sites: readonly number[]): string {
  const [last, ...before] = sites.toReversed();
  const list = before.length === 0 ? `${last}` : `${before.toReversed().join(", ")} and ${last}`;
  return `call${sites.length === 1 ? "" : "s"} ${list}`;
}
