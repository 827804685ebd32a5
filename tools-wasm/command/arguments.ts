/** Parses a call's arguments, which the gate has checked against their schema. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import { displayText } from "../../text/mod.ts";

/** The arguments of a call. */
export interface CommandCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number | undefined;
  readonly bytes: number;
  readonly lines: number;
}

/** Maximum of each output where a call names no limit. */
const BYTES = 32_768, LINES = 2_000;
/** Maximum length of a command's summary. */
const MAX_SUMMARY = 600;

function bad(name: string, why: string): Fault {
  return new Fault("invalidArguments", `Cannot use argument "${name}": ${why}`);
}

function textIn(name: string, value: Json | undefined): string {
  if (typeof value !== "string") throw bad(name, "it is not a text");
  if (value.includes("\0")) throw bad(name, "it holds a NUL");
  if (!value.isWellFormed()) throw bad(name, "its text is broken");
  return value;
}

function numberIn(args: JsonObject, name: string): number | undefined {
  const value = args[name];
  if (value === undefined || typeof value === "number") return value;
  throw bad(name, "it is not a number");
}

/** Parses the arguments. Throws Fault `invalidArguments`. */
export function readCall(args: JsonObject): CommandCall {
  const words = args["args"] ?? [];
  const env = args["env"] ?? {};
  if (!Array.isArray(words)) throw bad("args", "it is not a list");
  if (typeof env !== "object" || env === null || Array.isArray(env)) {
    throw bad("env", "it is not an object");
  }
  return {
    program: textIn("program", args["program"]),
    args: words.map((word) => textIn("args", word)),
    cwd: args["cwd"] === undefined ? undefined : textIn("cwd", args["cwd"]),
    // Input may contain any character.
    stdin: typeof args["stdin"] === "string" ? args["stdin"] : "",
    env: Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, textIn("env", value)]),
    ),
    timeoutMs: numberIn(args, "timeoutMs"),
    bytes: numberIn(args, "bytes") ?? BYTES,
    lines: numberIn(args, "lines") ?? LINES,
  };
}

/** The exact words, each quoted, safe to show; long ones are cut. */
export function shownWords(words: readonly string[]): string {
  return displayText(words.map((word) => JSON.stringify(word)).join(" "), { max: MAX_SUMMARY });
}
