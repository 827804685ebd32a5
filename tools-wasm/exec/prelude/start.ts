/** Begins a call: loads a script, calls one of its tools, or runs a program. @module */
import { type Evaluate, runScript, startProgram } from "./evaluate.ts";
import { isSpent } from "./failure.ts";
import { faultError } from "./host.ts";
import {
  apply,
  deleteProperty,
  isArray,
  keys,
  MakeMap,
  mapGet,
  mapSet,
  own,
  put,
} from "./primordials.ts";

/** Strips types from TypeScript. Throws an error that names the place where it cannot. */
export type Strip = (code: string) => string;

type Tool = (args: unknown, remit: object) => unknown;

/** Begins calls, and remembers whether this instance holds a script. */
export interface Starter {
  /** `{script}`, a promise of `{value}`, or `{body}`, a value or a promise. Throws on failure. */
  readonly start: (op: unknown, args: unknown) => unknown;
  readonly isScript: () => boolean;
}

/** Makes the starter of this instance. */
export function makeStarter(
  { target, evaluate, loadStripper, remit }: {
    /** The global object. */
    readonly target: object;
    readonly evaluate: Evaluate;
    readonly loadStripper: () => Strip;
    readonly remit: object;
  },
): Starter {
  const tools = new MakeMap<string, Tool>();
  let loaded = false;

  const load = (source: unknown): void => {
    if (typeof source !== "string" || loaded) {
      throw faultError(
        "invalidInput",
        "Cannot load the script: this instance has one, or it is not text",
      );
    }
    loaded = true;
    runScript(evaluate, source);
    const found: unknown = own(target, "__tools");
    if (typeof found !== "object" || found === null || isArray(found)) {
      throw faultError(
        "invalidInput",
        "Cannot load the script: it does not export `tools`, an object of functions",
      );
    }
    const names = keys(found);
    for (let i = 0; i < names.length; i++) {
      const name = names[i] ?? "";
      const tool = own(found, name);
      if (typeof tool === "function") mapSet(tools, name, tool as Tool);
    }
    deleteProperty(target, "__tools");
  };

  const run = (args: unknown): unknown => {
    const code = own(args, "code");
    if (typeof code !== "string") {
      throw faultError("invalidArguments", 'Cannot run the program: "code" is not text');
    }
    const language = own(args, "language") ?? "js";
    if (language !== "js" && language !== "ts") {
      throw faultError(
        "invalidArguments",
        'Cannot run the program: "language" is neither "js" nor "ts"',
      );
    }
    put(target, "input", own(args, "input") ?? null, true);
    if (language === "ts") return startProgram(evaluate, strip(loadStripper(), code));
    try {
      return startProgram(evaluate, code);
    } catch (error) {
      const message = own(error, "message");
      if (typeof message !== "string" || !isTypeScript(code)) throw error;
      throw faultError("invalidArguments", `${message} (if it is TypeScript, say language: "ts")`);
    }
  };

  /** Whether a program that is not JavaScript has types to strip. */
  const isTypeScript = (code: string): boolean => {
    try {
      return loadStripper()(code) !== code;
    } catch {
      return false;
    }
  };

  const start = (op: unknown, args: unknown): unknown => {
    if (op === "@load") return load(own(args, "source"));
    if (op === "exec" && !loaded) return run(args);
    const tool = typeof op === "string" ? mapGet(tools, op) : undefined;
    if (tool === undefined) {
      throw faultError("unknownTool", "Cannot call a tool that the script does not have");
    }
    return { body: apply(tool, undefined, [args, remit]) };
  };

  return { start, isScript: () => loaded };
}

/** TypeScript as JavaScript. Runs before the program, so with the original globals. */
function strip(work: Strip, code: string): string {
  try {
    return work(code);
  } catch (error) {
    if (isSpent(error)) throw error;
    const message = own(error, "message");
    const why = typeof message === "string" ? message : "it is not TypeScript";
    throw faultError("invalidArguments", `Cannot read the program: ${why}`);
  }
}
