/** The arguments of `tool call`: an object, within what a call may weigh. @module */
import { Fault, type Json } from "../../contracts/mod.ts";
import { parseJson } from "../../port/mod.ts";

/**
 * Bytes of all arguments, as JSON within a text of JSON: as they travel between processes, less what stands around
 * them there.
 */
const BYTES = 1_000_000;
/** Objects within each other that a message may hold, less those around the arguments. */
const DEPTH = 56;

function unreadable(why: string, cause?: unknown): Fault {
  return new Fault("invalidInput", `Cannot read the arguments: ${why}`, { cause });
}

/**
 * Reads the arguments of a call.
 *
 * @throws Fault `invalidInput` for what is no JSON object, repeats a key, or is larger than a call may be
 */
export function readArguments(text: string): Json {
  let value: Json;
  try {
    value = parseJson(text, { frameBytes: 8 * BYTES, depth: DEPTH });
  } catch (fault) {
    throw unreadable(whyNot(fault), fault);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw unreadable('write an object, such as {"path":"desk/a"}');
  }
  const travelling = new TextEncoder().encode(JSON.stringify(JSON.stringify(value)));
  if (travelling.length > BYTES) throw unreadable(TOO_LARGE);
  return value;
}

const TOO_LARGE = `together they are larger than a call may be (${BYTES} bytes); ` +
  "put the text into a file of a mount and name its path";

function whyNot(fault: unknown): string {
  if (!(fault instanceof Fault)) return "they are no JSON";
  if (fault.code === "tooLarge") {
    if (fault.message.includes("longer than")) return TOO_LARGE;
    return /nested/.test(fault.message)
      ? "they are nested too deeply"
      : "they hold too many values";
  }
  const { cause } = fault;
  // The engine's own words say where.
  if (cause instanceof SyntaxError) return `they are no JSON: ${cause.message}`;
  return `they are no JSON: ${fault.message.replace(/^Cannot parse JSON: /, "")}`;
}
