/** Reads and writes the frames of a session. contracts/base/port.ts defines their shapes. Used by port.ts. @module */
import { Fault, isFaultCode } from "../contracts/base/fault.ts";
import { isList, isObject, type Json, type JsonObject } from "../contracts/base/json.ts";
import { type JsonLimits, LONG_TEXT, passesBytes, settle, survey } from "./_bound.ts";

/** A received frame with a frozen body. `id` is the request's positive number. */
export type Frame =
  | { readonly kind: "ask"; readonly id: number; readonly op: string; readonly body: Json }
  | { readonly kind: "tell"; readonly op: string; readonly body: Json }
  | { readonly kind: "answer"; readonly id: number; readonly value: Json }
  | { readonly kind: "fail"; readonly id: number; readonly fault: Fault };

/** How to read a frame. */
interface Reading extends JsonLimits {
  /** Checks only the shape, and does not freeze the body. */
  readonly trusted: boolean;
}

/**
 * Reads a line and its long texts. Throws `badFrame` for anything but the one encoding of a known
 * shape, `tooLarge` above a limit.
 */
export function readFrame(line: string, text: string | undefined, reading: Reading): Frame {
  const frame = parse(line);
  if (!isList(frame)) throw bad("not an array");
  // INVARIANT: one encoding only, so a repeated key, odd whitespace or 1e999 is refused.
  if (!reading.trusted && JSON.stringify(frame) !== line) throw bad("not in its one encoding");
  const [id, head, parsed, detail] = frame;
  if (typeof id !== "number" || !Number.isSafeInteger(id)) throw bad("no id");
  if (parsed === undefined || frame.length !== (text === undefined ? 3 : 4)) {
    if (text !== undefined || frame.length !== 4) throw bad("wrong length");
    return failure(id, head, parsed, settled(detail, reading));
  }
  const body = settled(text === undefined ? parsed : restore(parsed, detail, text), reading);
  if (id < 0) {
    if (head !== null) throw bad("an answer with an op");
    return { kind: "answer", id: -id, value: body };
  }
  if (typeof head !== "string") throw bad("no op");
  return id === 0 ? { kind: "tell", op: head, body } : { kind: "ask", id, op: head, body };
}

/**
 * Writes a request (`id` above 0), an event (0) or an answer (below 0), without the last newline.
 * Throws `tooLarge` where a peer with the same limits would refuse the frame.
 */
export function writeFrame(id: number, op: string | null, body: Json, limits: JsonLimits): string {
  const found = { left: limits.nodes, long: false };
  survey(body, limits.depth, found);
  const light = found.long ? lighten(body) : undefined;
  const frame = light === undefined
    ? JSON.stringify([id, op, body])
    : `+${light.text.length}${JSON.stringify([id, op, light.body, light.places])}\n${light.text}`;
  if (passesBytes(frame, limits.frameBytes)) {
    throw new Fault("tooLarge", `Cannot send frame: longer than ${limits.frameBytes} bytes`);
  }
  return frame;
}

export function writeFailure(id: number, fault: Fault, limits: JsonLimits): string {
  const line = JSON.stringify([-id, fault.code, fault.message, fault.detail ?? null]);
  if (!passesBytes(line, limits.frameBytes)) return line;
  return JSON.stringify([-id, fault.code, fault.message.slice(0, 200), null]);
}

function parse(line: string): Json {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new Fault("badFrame", "Cannot read frame: not JSON", { cause });
  }
}

/** Freezes a value. Call it after the comparison with the line: JSON.stringify is slower on frozen objects. */
function settled<T extends Json | undefined>(value: T, reading: Reading): T {
  if (!reading.trusted && value !== undefined) settle(value, reading.depth, reading.nodes);
  return value;
}

function failure(
  id: number,
  code: Json | undefined,
  message: Json | undefined,
  detail: Json | undefined,
): Frame {
  if (id >= 0) throw bad("a failure of nothing");
  if (typeof code !== "string" || !isFaultCode(code)) throw bad("an unknown fault code");
  if (typeof message !== "string") throw bad("a failure without message");
  if (detail === null) return { kind: "fail", id: -id, fault: new Fault(code, message) };
  if (!isObject(detail)) throw bad("a failure's detail is not an object");
  return { kind: "fail", id: -id, fault: new Fault(code, message, { detail }) };
}

function bad(why: string): Fault {
  return new Fault("badFrame", `Cannot read frame: ${why}`);
}

// Long strings are sent beside their frame without escapes: to escape and parse 64 KB of text costs
// more than to send it. The frame `[id,op,body,places]` has `null` in their places. Before it
// stands `+units`, after it the concatenated texts in a separate line:
//
//     +9000[1,"write",{"content":null},[[["content"],9000]]]
//     …9,000 UTF-16 code units, newlines among them…

/** A text's path in the body, and its number of code units. */
type Place = readonly [path: readonly (string | number)[], units: number];

/** A body, and the long strings removed from it. */
interface Lightened {
  readonly body: Json;
  readonly places: readonly Place[];
  readonly text: string;
}

/** Removes the long strings from a copy of `body`; undefined where none can be sent beside the frame. */
function lighten(body: Json): Lightened | undefined {
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
    // fromEntries defines properties, so `__proto__` remains a key.
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, copy(item, [...path, key])]),
    );
  };
  const light = copy(body, []);
  return places.length === 0 ? undefined : { body: light, places, text };
}

/**
 * Puts the parts of `text` into their places in a newly parsed body; returns the body. Throws `badFrame` where a place does
 * not exist or is occupied, and where the units do not match the text.
 */
function restore(body: Json, places: Json | undefined, text: string): Json {
  if (places === undefined || !isList(places)) throw badText("places");
  let whole = body;
  let from = 0;
  for (const place of places) {
    if (!isList(place) || place.length !== 2) throw badText("place");
    const [path, units] = place;
    if (typeof units !== "number" || !Number.isSafeInteger(units) || units < LONG_TEXT) {
      throw badText("units");
    }
    if (path === undefined || !isList(path)) throw badText("path");
    const part = text.slice(from, from + units);
    from += units;
    if (path.length === 0 && whole === null) whole = part;
    else put(whole, path, part);
  }
  if (from !== text.length || places.length === 0) throw badText("sum");
  return whole;
}

function put(body: Json, path: readonly Json[], part: string): void {
  let value = body;
  let holder: object | undefined;
  for (const key of path) {
    // TRUST: the path is the peer's. Own members only, so that no path reaches a prototype.
    if (!isMember(value, key)) throw badText("path");
    holder = value;
    value = Reflect.get(value, String(key));
  }
  if (holder === undefined || value !== null) throw badText("path");
  Reflect.set(holder, String(path.at(-1)), part);
}

function isMember(value: Json, key: Json): value is readonly Json[] | JsonObject {
  if (typeof value !== "object" || value === null) return false;
  if (isList(value)) return typeof key === "number" && Object.hasOwn(value, key);
  return typeof key === "string" && Object.hasOwn(value, key);
}

function isLong(value: Json): value is string {
  // UTF-8 has no lone surrogates: a string with one remains in the frame, escaped.
  return typeof value === "string" && value.length >= LONG_TEXT && value.isWellFormed();
}

function badText(what: string): Fault {
  return new Fault("badFrame", `Cannot read frame: wrong ${what} of its long texts`);
}
