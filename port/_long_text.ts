/**
 * Long strings travel beside their frame, as they are: escaping and parsing 64 KB of text costs more
 * than sending it. A frame of `[id,op,body,places]` has `null` where they belong, and is announced by
 * `+units` before it and followed by the texts, laid end to end, in a line of their own:
 *
 *     +9000[1,"write",{"content":null},[[["content"],9000]]]
 *     …9,000 UTF-16 code units, newlines among them…
 * @module
 */
import { isList, type Json, type JsonObject } from "../contracts/json.ts";
import { Fault } from "../contracts/fault.ts";
import { LONG_TEXT } from "./_bound.ts";

/** Where a text belongs: its path in the body, and how many code units it has. */
type Place = readonly [path: readonly (string | number)[], units: number];

/** A body without its long strings, and these. */
export interface Lightened {
  readonly body: Json;
  readonly places: readonly Place[];
  readonly text: string;
}

/** Takes the long strings out of a copy of `body`; undefined if there is none that may travel so. */
export function lighten(body: Json): Lightened | undefined {
  const places: Place[] = [];
  let text = "";
  const copy = (value: Json, path: readonly (string | number)[]): Json => {
    if (isLong(value)) {
      places.push([path, value.length]);
      text += value;
      return null;
    }
    if (typeof value !== "object" || value === null) return value;
    if (isList(value)) return value.map((item, i) => copy(item, [...path, i]));
    // fromEntries defines: __proto__ stays a key.
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, copy(item, [...path, key])]),
    );
  };
  const light = copy(body, []);
  return places.length === 0 ? undefined : { body: light, places, text };
}

/**
 * Puts the parts of `text` into their places of a body that was just parsed; returns the body.
 * Throws `badFrame` for a place that is none, or taken, or if the units do not add up.
 */
export function restore(body: Json, places: Json | undefined, text: string): Json {
  if (places === undefined || !isList(places)) throw bad("places");
  let whole = body;
  let from = 0;
  for (const place of places) {
    if (!isList(place) || place.length !== 2) throw bad("place");
    const [path, units] = place;
    if (typeof units !== "number" || !Number.isSafeInteger(units) || units < LONG_TEXT) {
      throw bad("units");
    }
    if (path === undefined || !isList(path)) throw bad("path");
    const part = text.slice(from, from + units);
    from += units;
    if (path.length === 0 && whole === null) whole = part;
    else put(whole, path, part);
  }
  if (from !== text.length || places.length === 0) throw bad("sum");
  return whole;
}

function put(body: Json, path: readonly Json[], part: string): void {
  let value = body;
  let holder: object | undefined;
  for (const key of path) {
    // TRUST: from the peer. Own members only, so that no path leads to a prototype.
    if (!isMember(value, key)) throw bad("path");
    holder = value;
    value = Reflect.get(value, String(key));
  }
  if (holder === undefined || value !== null) throw bad("path");
  Reflect.set(holder, String(path.at(-1)), part);
}

function isMember(value: Json, key: Json): value is readonly Json[] | JsonObject {
  if (typeof value !== "object" || value === null) return false;
  if (isList(value)) return typeof key === "number" && Object.hasOwn(value, key);
  return typeof key === "string" && Object.hasOwn(value, key);
}

function isLong(value: Json): value is string {
  // UTF-8 has no lone surrogates: a string that holds one stays in the frame, escaped.
  return typeof value === "string" && value.length >= LONG_TEXT && value.isWellFormed();
}

function bad(what: string): Fault {
  return new Fault("badFrame", `Cannot read frame: wrong ${what} of its long texts`);
}
