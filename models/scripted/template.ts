/**
 * Templates: `{{ SOURCE | STEP | STEP }}` inside a string. mod.ts lists sources and steps. There are no
 * loops, conditions or regular expressions, so rendering always ends. Used by open.ts and scenario.ts.
 * @module
 */
import { isList, type Json } from "../../contracts/base/json.ts";
import { Fault } from "../../contracts/base/fault.ts";

/** Texts that a template may quote. */
export interface Quotable {
  readonly system: string;
  readonly user: string;
  readonly results: readonly { readonly tool: string; readonly text: string }[];
}

type Source =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "user" }
  | { readonly kind: "system" }
  /** The `nth` result from the front (1 is the oldest) or from the back (-1 is the newest). */
  | { readonly kind: "tool"; readonly tool: string | undefined; readonly nth: number };

interface Expression {
  readonly written: string;
  readonly source: Source;
  readonly steps: readonly Step[];
}

/** A parsed string: text and expressions, in order. */
type Template = readonly (string | Expression)[];

/**
 * Parses a template.
 * @throws SyntaxError for an invalid expression
 */
export function parseTemplate(text: string): Template {
  const parts: (string | Expression)[] = [];
  let at = 0;
  for (;;) {
    const open = text.indexOf("{{", at);
    if (open < 0) break;
    if (open > at) parts.push(text.slice(at, open));
    const { tokens, end } = tokenize(text, open + 2);
    parts.push(parseExpression(text.slice(open, end), tokens));
    at = end;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

/**
 * Fills a template. A template that is a single expression returns the value itself, so `json /size` can be a
 * number; in a longer text, values other than strings are written as JSON.
 * @throws Fault `upstream` when a quoted text is missing
 */
export function renderTemplate(template: Template, quotable: Quotable): Json {
  const [only] = template;
  if (template.length === 1 && typeof only === "object") return evaluate(only, quotable);
  return template.map((part) => {
    if (typeof part === "string") return part;
    const value = evaluate(part, quotable);
    return typeof value === "string" ? value : JSON.stringify(value);
  }).join("");
}

/** Parses and fills every string in a value, but not its keys. */
export function renderValue(value: Json, quotable: Quotable): Json {
  if (typeof value === "string") return renderTemplate(parseTemplate(value), quotable);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => renderValue(item, quotable));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, renderValue(item, quotable)]),
  );
}

/** Like {@link renderTemplate}, always as text. */
export function renderText(text: string, quotable: Quotable): string {
  const value = renderTemplate(parseTemplate(text), quotable);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function evaluate(expression: Expression, quotable: Quotable): Json {
  try {
    return expression.steps.reduce<Json>(applyStep, quote(expression.source, quotable));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Fault("upstream", `Cannot fill template "${expression.written}": ${error.message}`, {
      cause: error,
    });
  }
}

function quote(source: Source, quotable: Quotable): string {
  if (source.kind === "literal") return source.text;
  if (source.kind !== "tool") return quotable[source.kind];
  const { tool, nth } = source;
  const results = quotable.results.filter((each) => tool === undefined || each.tool === tool);
  const result = results.at(nth > 0 ? nth - 1 : nth);
  if (result === undefined) {
    throw new RangeError(`there are ${results.length} results${tool ? ` of ${tool}` : ""}`);
  }
  return result.text;
}

function parseExpression(written: string, tokens: readonly Token[]): Expression {
  const pipes = splitAtPipes(tokens);
  const [first, ...rest] = pipes;
  const [source, extra] = first ?? [];
  if (source === undefined) throw new SyntaxError(`template "${written}" quotes nothing`);
  if (extra !== undefined) {
    throw new SyntaxError(`template "${written}": put "|" before "${extra.text}"`);
  }
  return { written, source: parseSource(source), steps: rest.map(parseStep) };
}

function splitAtPipes(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const groups: Token[][] = [[]];
  for (const token of tokens) {
    if (token.kind === "pipe") groups.push([]);
    else groups.at(-1)?.push(token);
  }
  return groups;
}

function parseSource(token: Token): Source {
  if (token.kind === "string") return { kind: "literal", text: token.text };
  const [head, ...rest] = token.text.split(".");
  if ((head === "user" || head === "system") && rest.length === 0) return { kind: head };
  if (head === "tool" && rest.length >= 1 && rest.length <= 2) {
    const nth = Number(rest.at(-1));
    const named = rest.length === 2 || !Number.isInteger(nth);
    if (rest.length === 1 && named) return { kind: "tool", tool: rest[0], nth: -1 };
    if (Number.isInteger(nth) && nth !== 0) {
      return { kind: "tool", tool: named ? rest[0] : undefined, nth };
    }
  }
  throw new SyntaxError(
    `"${token.text}" quotes nothing: use user, system, tool.N, tool.NAME, tool.NAME.N or "text"`,
  );
}

/** A step and its arguments. */
interface Step {
  readonly verb: Verb;
  readonly args: readonly (string | number)[];
}

type Verb = keyof typeof STEPS;

interface StepKind {
  /** Kinds of the arguments; `pointer` is a JSON pointer, bare or quoted. */
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
    apply: (value, max) => [...textOf(value)].slice(0, Number(max)).join(""),
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
 * @throws SyntaxError for an unknown step or wrong arguments
 */
function parseStep(tokens: readonly Token[]): Step {
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

/** Applies a step. @throws RangeError when the value lacks what the step looks for. */
function applyStep(value: Json, step: Step): Json {
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

/** A token: a word, a quoted string (unquoted here), or the pipe between steps. */
interface Token {
  readonly kind: "word" | "string" | "pipe";
  readonly text: string;
}

/**
 * Reads tokens from `start`, behind `{{`, up to `}}`. `end` is the index behind it.
 * @throws SyntaxError for an unterminated string or expression
 */
function tokenize(
  text: string,
  start: number,
): { readonly tokens: readonly Token[]; readonly end: number } {
  const tokens: Token[] = [];
  for (let at = start; at < text.length;) {
    const char = text.charAt(at);
    if (text.startsWith("}}", at)) return { tokens, end: at + 2 };
    if (/\s/.test(char)) {
      at += 1;
    } else if (char === "|") {
      tokens.push({ kind: "pipe", text: "|" });
      at += 1;
    } else if (char === '"') {
      const end = endOfString(text, at);
      tokens.push({ kind: "string", text: unquote(text.slice(at, end)) });
      at = end;
    } else {
      const end = endOfWord(text, at);
      tokens.push({ kind: "word", text: text.slice(at, end) });
      at = end;
    }
  }
  throw new SyntaxError('a template that begins with "{{" has no "}}"');
}

function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at + 1;
  }
  throw new SyntaxError("a quoted string in a template has no end");
}

function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !/[\s|"]/.test(text.charAt(at)) && !text.startsWith("}}", at)) at++;
  return at;
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted.replaceAll("\n", "\\n")));
  } catch (cause) {
    throw new SyntaxError(`${quoted} is not a string as JSON writes it`, { cause });
  }
}
