/** What one frame of a session says. The shapes stand in contracts/port.ts. @module */
import { isList, isObject, type Json } from "../contracts/json.ts";
import { Fault, isFaultCode } from "../contracts/fault.ts";
import { settle, survey } from "./_bound.ts";
import { passesBytes } from "./_encode.ts";
import type { JsonLimits } from "./limits.ts";
import { lighten, restore } from "./_long_text.ts";

/** A frame that was received, its body frozen. `id` is the positive number of the request. */
export type Frame =
  | { readonly kind: "ask"; readonly id: number; readonly op: string; readonly body: Json }
  | { readonly kind: "tell"; readonly op: string; readonly body: Json }
  | { readonly kind: "answer"; readonly id: number; readonly value: Json }
  | { readonly kind: "fail"; readonly id: number; readonly fault: Fault };

/** What a frame is read by. */
export interface Reading extends JsonLimits {
  /** Only the shape is looked at, and the body is not frozen. */
  readonly trusted: boolean;
}

/**
 * Reads a line and the long texts that belong to it. Throws `badFrame` for anything but the one
 * encoding of a known shape, `tooLarge` past a limit.
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
 * Writes a request (`id` above 0), an event (0) or an answer (below 0), without its last newline.
 * Throws `tooLarge` for what a peer of the same limits would refuse.
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

/** Writes the failure of request `id`. */
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

/** Not before the comparison with the line: JSON.stringify is slower on frozen objects. */
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
