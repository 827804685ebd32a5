/** `console`: lines for the log. @module */
import { quoted } from "./host.ts";
import { freeze, put, slice } from "./primordials.ts";
import { inspect } from "./inspect.ts";

/** Maximum characters and lines of one call; the host has its own limits. */
const CHARACTERS = 65_536;
const LINES = 1_000;

/** Log lines, and the used part of a call's share. */
export interface Log {
  readonly line: (text: string) => void;
  /** Resets the share for a new call. */
  readonly begin: () => void;
}

/** Sends lines to `send` until a call's share is used up; then one line says so. */
export function makeLog(send: (args: string) => void): Log {
  let characters = 0;
  let lines = 0;
  const line = (text: string): void => {
    if (lines > LINES || characters > CHARACTERS) return;
    lines += 1;
    const left = CHARACTERS - characters;
    characters += text.length + 1;
    const full = lines > LINES || characters > CHARACTERS;
    const shown = full ? slice(text, 0, left > 0 ? left : 0) + "… (the log is full)" : text;
    try {
      send(`{"text":${quoted(shown)}}`);
    } catch {
      // A refused log line must not change what a program does.
    }
  };
  return freeze({
    line,
    begin: () => {
      characters = 0;
      lines = 0;
    },
  });
}

const LEVELS = [
  ["log", ""],
  ["info", ""],
  ["debug", ""],
  ["dir", ""],
  ["trace", ""],
  ["warn", "warning: "],
  ["error", "error: "],
] as const;

/** Makes the global `console`. */
export function makeConsole(log: Log): object {
  const made = {};
  for (let i = 0; i < LEVELS.length; i++) {
    const [name, prefix] = LEVELS[i] ?? ["log", ""];
    put(made, name, (...values: unknown[]) => {
      let text: string = prefix;
      for (let n = 0; n < values.length; n++) text += (n === 0 ? "" : " ") + inspect(values[n]);
      log.line(text);
    }, true);
  }
  put(made, "table", (value: unknown) => log.line(inspect(value)), true);
  put(made, "assert", (holds: unknown, ...values: unknown[]) => {
    if (!holds) log.line("error: assertion failed " + inspect(values.length > 0 ? values[0] : ""));
  }, true);
  const quiet = ["time", "timeEnd", "timeLog", "count", "group", "groupEnd"] as const;
  for (let i = 0; i < quiet.length; i++) put(made, quiet[i] ?? "", () => undefined, true);
  return made;
}
