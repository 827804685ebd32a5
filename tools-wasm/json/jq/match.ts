/**
 * Regular expressions in filters: `test`, `match`, `split`, `sub`. Time is linear in the text.
 * @module
 */
import { readPattern } from "../pattern.ts";
import { isList, type Json, type JsonObject } from "../values.ts";
import { type Budget, FilterError, shown } from "./run_state.ts";

/** A search. */
export interface Wanted {
  /** A text, or an array of a text and flags. */
  readonly pattern: Json;
  /** Flags `g` (all), `i` (ignore case), `s` (dot matches line ends), `n` (no empty ones); or null. */
  readonly flags: Json;
  readonly budget: Budget;
}

/** A match in the form of `match`, and its named groups. Offsets count code points. */
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
  const compiled = readPattern(source, { flags: `${wanted}u`, spend });
  let from = 0;
  // Offsets count code points; matches come left to right, so each character is counted once.
  let counted = { unit: 0, points: 0 };
  const pointsAt = (unit: number): number => {
    counted = { unit, points: counted.points + lengthOf(text, counted.unit, unit) };
    return counted.points;
  };
  while (from <= text.length) {
    const groups = compiled.find(text, from);
    const whole = groups?.[0];
    if (groups === undefined || whole === undefined) return;
    // After an empty match the search advances by one character.
    const pair = (text.codePointAt(whole.to) ?? 0) > 0xffff;
    from = whole.to === whole.from ? whole.to + (pair ? 2 : 1) : whole.to;
    if (wanted.includes("n") && whole.from === whole.to) continue;
    const offset = pointsAt(whole.from);
    const captures = compiled.names.map((name, at): JsonObject => {
      const group = groups[at + 1];
      return {
        offset: group === undefined ? -1 : offset + lengthOf(text, whole.from, group.from),
        length: group === undefined ? 0 : lengthOf(text, group.from, group.to),
        string: group === undefined ? null : text.slice(group.from, group.to),
        name: name ?? null,
      };
    });
    yield {
      offset,
      length: lengthOf(text, whole.from, whole.to),
      string: text.slice(whole.from, whole.to),
      captures,
      named: namedOf(captures),
    };
    if (!wanted.includes("g")) return;
  }
}

/** Code points between two positions. */
function lengthOf(text: string, from: number, to: number): number {
  const part = text.slice(from, to);
  return part.length - (part.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
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
