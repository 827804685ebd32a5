/** Turns errors into answers. @module */
import { FAULT_CODES } from "../../../contracts/base/fault.ts";
import { quoted } from "./host.ts";
import { errorText, inspect } from "./inspect.ts";
import { charCodeAt, indexOf, isA, own, slice } from "./primordials.ts";

const ERROR = Error.prototype;
const SYNTAX = SyntaxError.prototype;

/** Maximum characters and lines of a shown stack. */
const STACK_CHARACTERS = 2_000;
const STACK_LINES = 6;

/** Marks of stack lines outside the program: in the engine's image the prelude has no name. */
const OURS = ["prelude.js", "(<null>:", "(native)"] as const;

/** QuickJS' messages for an exhausted heap or stack. */
const SPENT = ["out of memory", "Maximum call stack size exceeded", "stack overflow"] as const;

/** Whether `error` reports exhausted heap or stack. A program that forges it loses its instance. */
export function isSpent(error: unknown): boolean {
  try {
    const message = own(error, "message");
    if (typeof message !== "string" || !isA(ERROR, error)) return false;
    for (let i = 0; i < SPENT.length; i++) if (message === SPENT[i]) return true;
  } catch {
    // A proxy, so not QuickJS' own error.
  }
  return false;
}

/** Whether `error` is a syntax error. */
export function isSyntax(error: unknown): boolean {
  return isA(SYNTAX, error);
}

const USED_UP = "Cannot go on: the program used up its memory (64 MiB) or its stack";

/**
 * The answer for a thrown error, after `!` where the instance is unusable, else after `.`. A
 * script's own errors may carry a fault's code; a program's (`byProgram`) are always `upstream`, so
 * that they cannot pass for a refusal.
 */
export function failedText(error: unknown, { byProgram }: { readonly byProgram: boolean }): string {
  if (isSpent(error)) {
    return `!{"ok":false,"error":{"code":"tooLarge","message":${quoted(USED_UP)}},"discard":true}`;
  }
  const code = byProgram ? undefined : faultCode(error);
  const message = code === undefined ? "Cannot finish: " + thrownText(error) : messageOf(error);
  return `.{"ok":false,"error":{"code":${quoted(code ?? "upstream")},"message":${
    quoted(message)
  }}}`;
}

function faultCode(error: unknown): string | undefined {
  try {
    const code = isA(ERROR, error) ? own(error, "code") : undefined;
    for (let i = 0; i < FAULT_CODES.length; i++) if (code === FAULT_CODES[i]) return FAULT_CODES[i];
  } catch {
    // A proxy: it has no code.
  }
  return undefined;
}

function messageOf(error: unknown): string {
  const message = own(error, "message");
  return typeof message === "string" ? slice(message, 0, 4_096) : "Cannot finish";
}

/** A program's thrown error in words, with the top of its stack. Never throws. */
export function thrownText(error: unknown): string {
  try {
    if (typeof error !== "object" || error === null || !isA(ERROR, error)) {
      return inspect(error, 1_000);
    }
    const { stack } = error as { readonly stack?: unknown };
    const code = own(error, "code");
    const text = errorText(error) + (typeof code === "string" ? ` [${slice(code, 0, 64)}]` : "");
    return typeof stack === "string" ? text + shownStack(stack) : text;
  } catch {
    return "something that cannot be shown";
  }
}

/** The stack lines that belong to the program, each on its own line. */
function shownStack(stack: string): string {
  let text = "";
  let from = 0;
  const head = slice(stack, 0, STACK_CHARACTERS);
  for (let count = 0; count < STACK_LINES && from < head.length; count++) {
    const found = indexOf(head, "\n", from);
    const end = found < 0 ? head.length : found;
    const line = slice(head, from, end);
    from = end + 1;
    if (line !== "" && !isOurs(line)) text += "\n" + line;
  }
  return text;
}

function isOurs(line: string): boolean {
  for (let i = 0; i < OURS.length; i++) if (indexOf(line, OURS[i] ?? "") >= 0) return true;
  return false;
}

/** The place in `NAME:LINE:COLUMN` at the top of a syntax error's stack; undefined for none. */
export function placeOf(
  error: unknown,
  name: string,
): { line: number; column: number } | undefined {
  // An accessor in QuickJS; only QuickJS' own errors reach this line.
  const stack = isA(SYNTAX, error) ? (error as Error).stack : undefined;
  if (typeof stack !== "string") return undefined;
  const at = indexOf(stack, name + ":");
  if (at < 0) return undefined;
  const line = numberAt(stack, at + name.length + 1);
  const column = numberAt(stack, line.end + 1);
  return { line: line.value, column: column.value };
}

function numberAt(text: string, from: number): { value: number; end: number } {
  let value = 0;
  let end = from;
  for (; end < text.length; end++) {
    const digit = charCodeAt(text, end) - 48;
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
  }
  return { value, end };
}
