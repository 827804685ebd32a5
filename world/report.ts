/** Reports of a world: meetings, speech, cost; and one person's memory. @module */
import { displayText } from "../text/mod.ts";
import type { Memory } from "./memory.ts";
import { spentIn } from "./run_world.ts";
import type { Happening, PersonState, WorldState } from "./state.ts";
import { clockWords } from "./world_file.ts";

/** Maximum lines of a list in the text report. */
const TOP = 10;

/** A report of a world. Texts are untrusted. */
export interface WorldReport {
  readonly world: string;
  readonly clock: string;
  readonly people: number;
  readonly steps: number;
  /** Invalid answers, which had no effect. */
  readonly misfits: number;
  readonly tokens: number;
  /** US dollars. */
  readonly money: number;
  readonly said: Readonly<Record<string, number>>;
  readonly moves: number;
  readonly reflections: { readonly open: number; readonly kept: number };
  /** Number of steps that two people spent in one room, highest first. */
  readonly met: readonly { readonly pair: string; readonly steps: number }[];
}

/** Counts the report of a state. */
export function reportOf(state: WorldState): WorldReport {
  const people = Object.values(state.people);
  const sum = (of: (person: PersonState) => number): number =>
    people.reduce((all, each) => all + of(each), 0);
  const said: Record<string, number> = {};
  for (const { kind, room } of state.log) if (kind === "said") said[room] = (said[room] ?? 0) + 1;
  const reflections = people.flatMap(({ memory }) => memory).filter(({ kind }) =>
    kind === "reflection"
  );
  return {
    ...{ world: state.world, clock: clockWords(state.clock), people: people.length },
    steps: sum(({ spent }) => spent.steps),
    misfits: sum(({ spent }) => spent.misfits),
    ...spentIn(state),
    said,
    moves: state.log.filter(({ kind }) => kind === "moved").length,
    reflections: {
      open: reflections.filter(({ review }) => review === "open").length,
      kept: reflections.filter(({ review }) => review === "kept").length,
    },
    met: Object.entries(state.meetings).map(([pair, steps]) => ({ pair, steps }))
      .toSorted((a, b) => b.steps - a.steps || (a.pair < b.pair ? -1 : 1)),
  };
}

/** The report as lines. */
export function reportLines(report: WorldReport): string[] {
  const safe = (text: string): string => displayText(text, { max: 120 });
  const list = (name: string, items: readonly string[]): string[] =>
    items.length === 0
      ? []
      : items.slice(0, TOP).map((item, at) => `  ${(at === 0 ? name : "").padEnd(12)} ${item}`);
  const { steps, misfits, tokens, money, reflections } = report;
  return [
    `${safe(report.world)} at ${report.clock}: ${report.people} people, ${steps} steps`,
    ...list(
      "said",
      Object.entries(report.said).toSorted(([, a], [, b]) => b - a).map((
        [room, count],
      ) => `${count} in ${safe(room)}`),
    ),
    ...list("met", report.met.map(({ pair, steps }) => `${safe(pair)}: ${steps} steps`)),
    ...list("moves", [String(report.moves)]),
    ...list("reflections", [`${reflections.open} to review, ${reflections.kept} kept`]),
    ...list("misfits", [`${misfits} of ${steps} answers did not fit, and nothing came of them`]),
    ...list("spent", [`${tokens} tokens, ${money.toFixed(4)} USD`]),
  ];
}

/** A happening as a line. */
export function happeningLine({ at, who, room, kind, text }: Happening): string {
  const words = displayText(text, { max: 300 });
  const what = kind === "said" ? `“${words}”` : kind === "moved" ? `→ ${words}` : words;
  return `${clockWords(at)}  ${displayText(room, { max: 32 }).padEnd(10)} ${
    displayText(who, { max: 32 })
  } ${kind === "said" ? "says" : kind}: ${what}`;
}

/** One person's memory as lines. */
export function personLines(name: string, person: PersonState): string[] {
  const { spent } = person;
  const colour = (entry: Memory): string =>
    entry.review === "open" ? `${entry.colour}, to review` : entry.colour;
  return [
    `${displayText(name, { max: 32 })} in ${
      displayText(person.room, { max: 32 })
    }: ${spent.steps} steps, ` +
    `${spent.misfits} misfits, ${spent.tokens} tokens, ${spent.money.toFixed(4)} USD`,
    ...person.plan.map(({ from, does, where }) =>
      `  plans ${from}:00  ${displayText(does, { max: 300 })} (${displayText(where, { max: 32 })})`
    ),
    ...person.memory.map((entry) =>
      `  #${String(entry.n).padEnd(4)} ${clockWords(entry.at)}  ${entry.kind.padEnd(10)} ` +
      `${String(entry.importance).padStart(2)}  ${colour(entry).padEnd(14)} ` +
      `${displayText(entry.source, { max: 32 }).padEnd(10)} ${
        displayText(entry.text, { max: 300 })
      }`
    ),
  ];
}
