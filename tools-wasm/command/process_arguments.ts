/** Arguments of calls to sessions, taken apart: the gate has held them against their schema. @module */
import { Fault } from "../../contracts/fault.ts";
import type { JsonObject } from "../../contracts/json.ts";
import {
  SESSION_SIGNALS,
  type SessionSignal,
  type TerminalSize,
} from "../../contracts/process_session.ts";
import { type CommandCall, readCall } from "./arguments.ts";
import { POLL_BYTES, POLL_MS } from "./process_descriptors.ts";

/** What a start asks for. */
export interface StartCall extends CommandCall {
  readonly terminal?: TerminalSize;
}

const bad = (name: string, why: string): Fault =>
  new Fault("invalidArguments", `Cannot use argument "${name}": ${why}`);

function numberOf(args: JsonObject, name: string, absent: number): number {
  const value = args[name] ?? absent;
  if (typeof value !== "number") throw bad(name, "it is not a number");
  return value;
}

/** Throws Fault `invalidArguments`, as each of these does. */
export function readStart(args: JsonObject): StartCall {
  const call = readCall(args);
  if (args["pty"] === true) {
    const [rows, columns] = [numberOf(args, "rows", 24), numberOf(args, "columns", 80)];
    return { ...call, terminal: { rows, columns } };
  }
  if (args["rows"] === undefined && args["columns"] === undefined) return call;
  throw bad("rows", "only a terminal has a size; set pty");
}

/** The session that a call names. */
export function readSession(args: JsonObject): string {
  const { session } = args;
  if (typeof session === "string") return session;
  throw bad("session", "it is not a text");
}

/** What a poll asks for. */
export function readPoll(
  args: JsonObject,
): { readonly waitMs: number; readonly bytes: number; readonly newest: boolean } {
  return {
    waitMs: numberOf(args, "waitMs", POLL_MS),
    bytes: numberOf(args, "bytes", POLL_BYTES),
    newest: args["newest"] === true,
  };
}

/** What is written. */
export function readWrite(args: JsonObject): { readonly text: string; readonly end: boolean } {
  const { text, end } = args;
  if (typeof text !== "string") throw bad("text", "it is not a text");
  if (!text.isWellFormed()) throw bad("text", "its text is broken");
  return { text, end: end === true };
}

/** The signal of a closed set. */
export function readSignal(args: JsonObject): SessionSignal {
  const found = SESSION_SIGNALS.find((each) => each === args["signal"]);
  if (found !== undefined) return found;
  throw bad("signal", `it must be one of ${SESSION_SIGNALS.join(", ")}`);
}
