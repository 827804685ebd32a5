/**
 * Values of a planned program (docs/planned_programs.md): data and its origin. Nothing of JavaScript shows through: records are maps,
 * so there is no prototype to reach, there are no getters, and no value converts itself into
 * another.
 * @module
 */
import type { Colour, Label } from "../../contracts/authority/colour.ts";
import type { Json } from "../../contracts/base/json.ts";

/** A value's origin: call sites as bits (bit n is site n), and their worst colour and label. */
export interface Mark {
  readonly origins: bigint;
  readonly colour: Colour;
  readonly label: Label;
}

/** A value of the program. */
export interface Value {
  readonly data: Data;
  readonly mark: Mark;
}

/** A list of values. */
export interface List {
  readonly list: readonly Value[];
}
/** A record, by field name. */
export interface Fields {
  readonly fields: ReadonlyMap<string, Value>;
}
/** The data of a value. */
export type Data = undefined | null | boolean | number | string | List | Fields;

/** The mark of values that stand in the program's own text. */
export const OWN: Mark = Object.freeze({ origins: 0n, colour: "BLUE", label: "public" });

// The orders of contracts/authority/colour.ts, which imports a schema library that a worker must
// not hold.
const COLOURS = ["BLUE", "YELLOW", "RED"] as const satisfies readonly Colour[];
const LABELS = ["public", "internal", "secret"] as const satisfies readonly Label[];
const higher = <T>(order: readonly T[], a: T, b: T): T =>
  order.indexOf(a) < order.indexOf(b) ? b : a;

/** Combines two marks. */
export function mix(a: Mark, b: Mark): Mark {
  if (a === b || b === OWN) return a;
  if (a === OWN) return b;
  const origins = a.origins | b.origins;
  const colour = higher<Colour>(COLOURS, a.colour, b.colour);
  const label = higher<Label>(LABELS, a.label, b.label);
  const is = (mark: Mark): boolean =>
    mark.origins === origins && mark.colour === colour && mark.label === label;
  return is(a) ? a : is(b) ? b : { origins, colour, label };
}

/** Returns the same data with `mark` added to its origin. */
export function marked(value: Value, mark: Mark): Value {
  const mixed = mix(value.mark, mark);
  return mixed === value.mark ? value : { data: value.data, mark: mixed };
}

/** Whether data is a list. */
export function isList(data: Data): data is List {
  return typeof data === "object" && data !== null && "list" in data;
}
/** Whether data is a record. */
export function isFields(data: Data): data is Fields {
  return typeof data === "object" && data !== null && "fields" in data;
}

/** Whether a value is truthy, as in JavaScript. */
export function isTrue({ data }: Value): boolean {
  return Boolean(data);
}

/** Names a value's kind, in words. */
export function kindOf(data: Data): string {
  if (data === undefined || data === null) return "nothing";
  if (isList(data)) return "a list";
  if (isFields(data)) return "a record";
  return typeof data === "string"
    ? "a text"
    : typeof data === "number"
    ? "a number"
    : "true or false";
}

/** Thrown when a program stops. The message holds nothing of the program's data. */
export class Stopped extends Error {}

/** Resource limits of a program. */
export interface Bounds {
  /** Statements, expressions and list items that are visited. */
  readonly steps: number;
  /** Total size of all values made: characters, items and fields. */
  readonly units: number;
  /** Depth of nested calls of its own functions. */
  readonly depth: number;
}

/** The default limits. */
export const BOUNDS: Bounds = Object.freeze({ steps: 500_000, units: 20_000_000, depth: 64 });
/** Size of one value, in characters and members. */
const MAX_VALUE = 1_000_000;
/** Levels of lists and records. */
const MAX_NESTING = 64;

/** Counts the resources that a program uses. */
export class Meter {
  #steps: number;
  #units: number;
  constructor({ steps, units }: Bounds) {
    this.#steps = steps;
    this.#units = units;
  }
  /** Counts visited steps. @throws Stopped */
  step(count = 1): void {
    this.#steps -= count;
    if (this.#steps < 0) throw new Stopped("it takes too many steps");
  }
  /** Counts a value of this size before it is made. @throws Stopped */
  make(units: number): void {
    if (units > MAX_VALUE) throw new Stopped("a value becomes too large");
    this.#units -= units;
    if (this.#units < 0) throw new Stopped("its values become too large together");
  }
}

/** Converts JSON to a value with the same mark on every part. @throws Stopped */
export function fromJson(json: Json | undefined, mark: Mark, meter: Meter, depth = 0): Value {
  meter.step();
  if (depth > MAX_NESTING) throw new Stopped("a value is nested too deep");
  if (typeof json === "string") meter.make(json.length);
  if (json === null || typeof json !== "object") return { data: json, mark };
  const within = (each: Json | undefined): Value => fromJson(each, mark, meter, depth + 1);
  if (Array.isArray(json)) {
    meter.make(json.length);
    return { data: { list: json.map(within) }, mark };
  }
  const entries = Object.entries(json);
  meter.make(entries.length);
  return { data: { fields: new Map(entries.map(([key, each]) => [key, within(each)])) }, mark };
}

/** A value as JSON without undefined fields, and the mark of all its parts. @throws Stopped */
export function toJson(
  value: Value,
  meter: Meter,
  depth = 0,
): { readonly json: Json | undefined; readonly mark: Mark } {
  meter.step();
  if (depth > MAX_NESTING) throw new Stopped("a value is nested too deep");
  const { data } = value;
  let { mark } = value;
  const within = (each: Value): Json | undefined => {
    const inner = toJson(each, meter, depth + 1);
    mark = mix(mark, inner.mark);
    return inner.json;
  };
  if (typeof data === "number" && !Number.isFinite(data)) return { json: null, mark };
  if (data === undefined || data === null || typeof data !== "object") return { json: data, mark };
  if (isList(data)) {
    meter.make(data.list.length);
    const json = data.list.map((each) => within(each) ?? null);
    return { json, mark };
  }
  meter.make(data.fields.size);
  const entries: [string, Json][] = [];
  for (const [key, each] of data.fields) {
    const json = within(each);
    if (json !== undefined) entries.push([key, json]);
  }
  // Object.fromEntries defines fields and does not assign them, so that no name reaches a
  // prototype.
  return { json: Object.fromEntries(entries), mark };
}

/** Converts a value to text: texts unchanged, everything else as JSON. @throws Stopped */
export function toText(value: Value, meter: Meter): string {
  if (typeof value.data === "string") return value.data;
  if (typeof value.data === "number" || value.data === undefined) return String(value.data);
  const text = JSON.stringify(toJson(value, meter).json);
  meter.make(text.length);
  return text;
}
