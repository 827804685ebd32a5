/** The steps of a template: small functions from a value to a value. @module */
import type { Json } from "../../contracts/json.ts";
import type { Token } from "./tokens.ts";

/** A step and its arguments. */
export interface Step {
  readonly verb: Verb;
  readonly args: readonly (string | number)[];
}

type Verb = keyof typeof STEPS;

interface StepKind {
  /** What each argument is; `pointer` is a JSON pointer, bare or quoted. */
  readonly takes: readonly ("number" | "text" | "pointer")[];
  apply(value: Json, ...args: readonly (string | number)[]): Json;
}

const STEPS = {
  line: {
    takes: ["number"],
    apply: (value, n) => lineAt(linesOf(value), Number(n)),
  },
  lines: {
    takes: ["number", "number"],
    apply: (value, from, to) => {
      const lines = linesOf(value);
      lineAt(lines, Number(from));
      return lines.slice(indexOf(lines, Number(from)), indexOf(lines, Number(to)) + 1).join("\n");
    },
  },
  find: {
    takes: ["text"],
    apply: (value, wanted) => {
      const found = linesOf(value).find((line) => line.includes(String(wanted)));
      if (found === undefined) throw new RangeError(`no line has ${JSON.stringify(wanted)}`);
      return found;
    },
  },
  before: {
    takes: ["text"],
    apply: (value, mark) => textOf(value).slice(0, placeOf(textOf(value), String(mark), 0)),
  },
  after: {
    takes: ["text"],
    apply: (value, mark) => afterMark(textOf(value), String(mark)),
  },
  between: {
    takes: ["text", "text"],
    apply: (value, open, close) => {
      const rest = afterMark(textOf(value), String(open));
      return rest.slice(0, placeOf(rest, String(close), 0));
    },
  },
  cut: {
    takes: ["number"],
    apply: (value, most) => [...textOf(value)].slice(0, Number(most)).join(""),
  },
  trim: { takes: [], apply: (value) => textOf(value).trim() },
  number: {
    takes: [],
    apply: (value) => {
      const number = Number(textOf(value));
      if (textOf(value).trim() === "" || !Number.isFinite(number)) {
        throw new RangeError(`${JSON.stringify(textOf(value).slice(0, 40))} is not a number`);
      }
      return number;
    },
  },
  json: {
    takes: ["pointer"],
    apply: (value, pointer) => atPointer(value, String(pointer)),
  },
} as const satisfies Record<string, StepKind>;

/**
 * Parses one step.
 * @throws SyntaxError when there is no such step or its arguments are wrong.
 */
export function parseStep(tokens: readonly Token[]): Step {
  const [verb, ...args] = tokens;
  if (verb === undefined) throw new SyntaxError('nothing stands behind "|" in a template');
  const name = verb.text;
  if (verb.kind !== "word" || !isVerb(name)) {
    const known = Object.keys(STEPS).join(", ");
    throw new SyntaxError(`a template has no step "${name}"; there are ${known}`);
  }
  const { takes } = STEPS[name];
  if (args.length !== takes.length) {
    throw new SyntaxError(`template step "${name}" takes ${takes.join(" and ") || "nothing"}`);
  }
  return { verb: name, args: args.map((token, i) => argument(name, takes[i] ?? "text", token)) };
}

/** Applies a step. @throws RangeError when the value does not have what the step looks for. */
export function applyStep(value: Json, step: Step): Json {
  const kind: StepKind = STEPS[step.verb];
  return kind.apply(value, ...step.args);
}

function isVerb(name: string): name is Verb {
  return Object.hasOwn(STEPS, name);
}

function argument(
  verb: Verb,
  kind: "number" | "text" | "pointer",
  token: Token,
): string | number {
  if (kind === "number") {
    const number = Number(token.text);
    if (token.kind === "word" && Number.isInteger(number) && number !== 0) return number;
    throw new SyntaxError(`template step "${verb}" takes a whole number other than 0`);
  }
  if (kind === "text") {
    if (token.kind === "string") return token.text;
    throw new SyntaxError(`template step "${verb}" takes text in double quotes`);
  }
  if (token.text === "" || token.text.startsWith("/")) return token.text;
  throw new SyntaxError(`template step "${verb}" takes a JSON pointer, which begins with "/"`);
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function linesOf(value: Json): readonly string[] {
  const lines = textOf(value).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function indexOf(lines: readonly string[], n: number): number {
  return n > 0 ? n - 1 : lines.length + n;
}

function lineAt(lines: readonly string[], n: number): string {
  const line = lines[indexOf(lines, n)];
  if (line === undefined) throw new RangeError(`there is no line ${n} of ${lines.length}`);
  return line;
}

function placeOf(text: string, mark: string, from: number): number {
  const place = text.indexOf(mark, from);
  if (place < 0) throw new RangeError(`it does not have ${JSON.stringify(mark)}`);
  return place;
}

function afterMark(text: string, mark: string): string {
  return text.slice(placeOf(text, mark, 0) + mark.length);
}

function atPointer(value: Json, pointer: string): Json {
  let at: Json | undefined = typeof value === "string" ? parseJsonText(value) : value;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = typeof at === "object" && at !== null && Object.hasOwn(at, key)
      ? (at as { readonly [key: string]: Json })[key]
      : undefined;
    if (at === undefined) throw new RangeError(`there is nothing at ${pointer}`);
  }
  return at;
}

function parseJsonText(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RangeError("it is not JSON", { cause });
  }
}
