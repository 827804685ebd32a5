/** Runs the text of a program. @module */
import { faultError } from "./host.ts";
import { errorText } from "./inspect.ts";
import { isSpent, isSyntax, placeOf } from "./failure.ts";
import { indexOf, own } from "./primordials.ts";

/** Evaluates a classic script with QuickJS' `flags`. Throws its errors, also syntax errors. */
export type Evaluate = (code: string, name: string, flags: number) => unknown;

/** QuickJS: BARRIER ends stacks; ASYNC allows top-level `await` and returns a promise of `{value}`. */
const BARRIER = 1 << 6;
const ASYNC = 1 << 7;

/** Wraps the text of a program that uses `return`; OPEN stays on its first line. */
const OPEN = "(async () => {";
const CLOSE = "\n})()";

/**
 * Starts a program and returns its value, or a promise of it. A program is a script with top-level
 * `await`, whose value is that of its last expression; a program with a top-level `return` is the
 * body of an async function.
 *
 * @throws an error with code `invalidArguments` that names line and column where the text is not
 * JavaScript
 */
export function startProgram(evaluate: Evaluate, code: string): unknown {
  let wrong: unknown;
  try {
    return { script: evaluate(code, "program.js", BARRIER | ASYNC) };
  } catch (error) {
    if (!isSyntax(error)) throw error;
    wrong = error;
  }
  try {
    return { body: evaluate(OPEN + code + CLOSE, "program.js", BARRIER) };
  } catch (error) {
    if (!isSyntax(error)) throw error;
    throw returns(wrong) ? notRead(error, OPEN.length) : notRead(wrong, 0, hintFor(code));
  }
}

/** Runs a script now. Throws the errors of {@link startProgram}. */
export function runScript(evaluate: Evaluate, code: string): void {
  try {
    evaluate(code, "tool.js", BARRIER);
  } catch (error) {
    throw isSyntax(error) && placeOf(error, "tool.js") !== undefined ? notRead(error, 0) : error;
  }
}

/** A hint for a model that wrote a module. */
function hintFor(code: string): string {
  const isModule = indexOf(code, "import ") >= 0 || indexOf(code, "export ") >= 0;
  return isModule ? " (a program is a script: it has no import and no export)" : "";
}

/** Whether the script was refused for its `return`. */
function returns(error: unknown): boolean {
  const message = own(error, "message");
  return typeof message === "string" && indexOf(message, "return") >= 0;
}

function notRead(error: unknown, before: number, hint = ""): unknown {
  if (isSpent(error) || typeof error !== "object" || error === null) return error;
  const place = placeOf(error, "program.js") ?? placeOf(error, "tool.js");
  if (place === undefined) {
    return faultError("invalidArguments", `Cannot read the program: ${errorText(error)}`);
  }
  const column = place.line === 1 ? place.column - before : place.column;
  const at = `line ${place.line}, column ${column}`;
  return faultError(
    "invalidArguments",
    `Cannot read the program: ${at}: ${errorText(error)}${hint}`,
  );
}
