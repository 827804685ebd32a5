/** Regular expressions in filters: `test`, `match`, `split`, `sub`. Time is linear in the text. @module */
import { makePattern } from "../pattern/pattern.ts";
import { isList, type Json, type JsonObject } from "../values.ts";
import { type Budget, FilterError, shown } from "./run_state.ts";

/** What is looked for. */
export interface Wanted {
  /** A text, or an array of a text and flags. */
  readonly pattern: Json;
  /** Of `g` (all matches), `i` (ignore case), `s` (dot matches line ends), `n` (no empty matches); or null. */
  readonly flags: Json;
  readonly budget: Budget;
}

/** A match, as `match` gives it, and its named groups. Offsets count code points. */
export interface Found {
  readonly offset: number;
  readonly length: number;
  readonly string: string;
  readonly captures: readonly JsonObject[];
  readonly named: JsonObject;
}

/** The matches in `text`: one, or all with flag `g`. */
export function* matches(text: Json, { pattern, flags, budget }: Wanted): Iterable<Found> {
  if (typeof text !== "string") {
    throw new FilterError(`${shown(text)} cannot be matched, as it is not a string`);
  }
  const [source, extra] = isList(pattern) ? pattern : [pattern, flags];
  if (typeof source !== "string") {
    throw new FilterError(`${shown(source ?? null)} is not a pattern`);
  }
  const wanted = flagsOf(extra ?? flags ?? null);
  const spend = (steps: number): void => budget.spend(steps);
  const compiled = makePattern(source, { flags: `${wanted}u`, spend });
  const points = [...text];
  let from = 0;
  while (from <= points.length) {
    const match = compiled.find(points, from);
    const whole = match?.groups[0];
    if (match === undefined || whole === undefined) return;
    // After an empty match the next one begins one character on.
    from = whole.to === whole.from ? whole.to + 1 : whole.to;
    if (wanted.includes("n") && whole.from === whole.to) continue;
    const captures = compiled.names.map((name, at): JsonObject => {
      const group = match.groups[at + 1];
      const string = group === undefined ? null : points.slice(group.from, group.to).join("");
      return {
        offset: group?.from ?? -1,
        length: group === undefined ? 0 : group.to - group.from,
        string,
        name: name ?? null,
      };
    });
    yield {
      offset: whole.from,
      length: whole.to - whole.from,
      string: points.slice(whole.from, whole.to).join(""),
      captures,
      named: namedOf(captures),
    };
    if (!wanted.includes("g")) return;
  }
}

function namedOf(captures: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(captures.flatMap((capture): (readonly [string, Json])[] => {
    const name = capture["name"];
    return typeof name === "string" ? [[name, capture["string"] ?? null]] : [];
  }));
}

function flagsOf(flags: Json): string {
  if (flags === null) return "";
  if (typeof flags !== "string") throw new FilterError(`${shown(flags)} is not a string of flags`);
  const unknown = [...flags].find((flag) => !"gisn".includes(flag));
  if (unknown !== undefined) {
    throw new FilterError(`"${unknown}" is not a flag: there are g, i, s and n`);
  }
  return flags;
}
