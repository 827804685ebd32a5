/** The grammar of an answer with tool calls, and the parser of such answers. @module */
import type { Json } from "../../contracts/base/json.ts";
import { Fault } from "../../contracts/base/fault.ts";
import {
  alt,
  EMPTY,
  type Expr,
  literal,
  makeRules,
  oneOf,
  opt,
  type Rules,
  seq,
  times,
} from "./gbnf.ts";
import type { Flat, GrammarOptions } from "./schema.ts";
import { schemaRule } from "./compile.ts";

/** The part of a tool descriptor that the grammar needs. */
interface OfferedTool {
  readonly name: string;
  /** JSON Schema of the arguments, as JSON text. */
  readonly paramSchema: string;
}

/** Form of the answer. */
export interface ToolGrammarOptions extends GrammarOptions {
  /** Whether the answer must contain a call. False. */
  readonly mustCall?: boolean;
  /** Calls per answer. 8. */
  readonly calls?: number;
  /** Schema of an answer without calls; absent: any text. */
  readonly answer?: Json | string | undefined;
  /** Whether text may precede the first call. True. */
  readonly preamble?: boolean;
}

/** Arguments are an object; an empty one where the schema names no property. */
const ARGUMENTS: Flat = { kinds: new Set(["object"]), properties: new Map() };

/** Tools per grammar. */
const MAX_TOOLS = 512;

/**
 * The grammar (GBNF, start symbol `root`) of an answer: text without {@link CALL_OPEN} (or JSON of `answer`),
 * or 1 to `calls` calls `<tool_call>{"name":…,"arguments":{…}}</tool_call>` whose arguments fit the schema of
 * their tool, with optional text before. {@link parseToolAnswer} recovers that text and those calls. One
 * space may follow `:` and `,`. Throws `invalidInput` naming the tool, and `tooLarge`.
 */
export function toolGrammar(
  tools: readonly OfferedTool[],
  options: ToolGrammarOptions = {},
): string {
  const { mustCall = false, calls = 8, answer, preamble = true } = options;
  if (tools.length > MAX_TOOLS) {
    throw new Fault("tooLarge", `Cannot make a grammar: more than ${MAX_TOOLS} tools`);
  }
  const rules = makeRules();
  const bounds = { ...options, spaces: true };
  const call = callRule(rules, tools, bounds);
  // Behind the opening marker: the rest of the first call, then further calls.
  const called = call === undefined ? undefined : rules.rule(
    seq(call, times(rules, seq(opt(literal("\n")), literal(CALL_OPEN), call), 0, calls - 1)),
  );
  const said = answer === undefined ? undefined : schemaRule(rules, answer, { options: bounds });
  if (called === undefined && mustCall) {
    throw new Fault("invalidInput", "Cannot make a grammar: a call is asked for, of no tool");
  }
  const marked = called === undefined ? undefined : seq(literal(CALL_OPEN), called);
  const free = mustCall || said !== undefined
    ? undefined
    : freeText(rules, { then: preamble ? called : undefined });
  // Free text with a preamble already includes the calls.
  const direct = free !== undefined && preamble ? undefined : marked;
  return rules.render(alt([said, direct, free]) ?? EMPTY);
}

/** The text of a call behind its opening marker. */
function callRule(
  rules: Rules,
  tools: readonly OfferedTool[],
  bounds: GrammarOptions,
): Expr | undefined {
  const space = opt(literal(" "));
  const bodies = tools.map(({ name, paramSchema }): [string, Expr] => {
    const fits = schemaOf(rules, name, paramSchema, bounds);
    const body = seq(literal('",'), space, literal('"arguments":'), space, fits);
    return [JSON.stringify(name).slice(1, -1), body];
  });
  const named = oneOf(rules, bodies);
  if (named === undefined) return undefined;
  const line = opt(literal("\n"));
  return rules.rule(
    seq(
      line,
      literal('{"name":'),
      space,
      literal('"'),
      named,
      literal("}"),
      line,
      literal(CALL_CLOSE),
    ),
  );
}

function schemaOf(rules: Rules, name: string, schema: string, bounds: GrammarOptions): Expr {
  try {
    return schemaRule(rules, schema, { options: bounds, within: ARGUMENTS });
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause;
    throw new Fault(cause.code, `Cannot offer tool ${JSON.stringify(name)}: ${cause.message}`, {
      cause,
      detail: { ...cause.detail, tool: name },
    });
  }
}

/** Text without the marker. At a marker `then` follows; if `then` is absent, no marker can be written. */
function freeText(rules: Rules, { then }: { readonly then: Expr | undefined }): Expr {
  const marker = CALL_OPEN;
  // State n: the text so far ends with the first n characters of the marker. The first character occurs only
  // once in the marker, so a mismatch leads to state 0 or 1.
  const first = marker.slice(0, 1);
  const state = (n: number): string => `text-${n}`;
  const bodies: string[] = [];
  for (let n = 0; n < marker.length; n++) {
    const next = marker.slice(n, n + 1);
    const onward = n + 1 < marker.length
      ? `${literal(next)} ${state(n + 1)}`
      : then === undefined
      ? undefined
      : `${literal(next)} ${then}`;
    const miss = next === first ? `[^${next}] ${state(0)}` : `[^${next}${first}] ${state(0)}`;
    const again = next === first ? undefined : `${literal(first)} ${state(1)}`;
    bodies.push([EMPTY, miss, again, onward].filter((each) => each !== undefined).join(" | "));
  }
  return rules.named(state, bodies);
}

// The parser for answers of {@link toolGrammar}.

/** Opens a call. */
export const CALL_OPEN = "<tool_call>";
/** Closes a call. */
export const CALL_CLOSE = "</tool_call>";

/** A call as written. */
interface AnsweredCall {
  readonly name: string;
  /** JSON text, parsed by the gate. */
  readonly arguments: string;
}

/** A parsed answer. */
export interface ToolAnswer {
  /** The text before the first call, or the whole answer. */
  readonly text: string;
  readonly calls: readonly AnsweredCall[];
  /** The answer was cut within a call, which is in neither `text` nor `calls`. */
  readonly cut: boolean;
  /** The written part of the call that was cut. */
  readonly begun?: AnsweredCall;
}

/** Parses an answer. A text that does not follow the grammar of calls remains text. */
export function parseToolAnswer(answer: string): ToolAnswer {
  const start = answer.indexOf(CALL_OPEN);
  if (start < 0) return { text: answer, calls: [], cut: false };
  const calls: AnsweredCall[] = [];
  let at = start;
  let cut = false;
  while (answer.startsWith(CALL_OPEN, at)) {
    const open = skip(answer, at + CALL_OPEN.length);
    const end = valueEnd(answer, open);
    const closed = end === undefined ? undefined : skip(answer, end);
    const call = end === undefined ? undefined : callOf(answer.slice(open, end));
    if (closed === undefined || !answer.startsWith(CALL_CLOSE, closed)) {
      cut = end === undefined || CALL_CLOSE.startsWith(answer.slice(closed));
      break;
    }
    if (call === undefined) break;
    calls.push(call);
    at = skip(answer, closed + CALL_CLOSE.length);
  }
  // Text that only resembles a call is shown as it is.
  const text = calls.length === 0 && !cut ? answer : answer.slice(0, start);
  return { text, calls, cut, ...(cut ? { begun: begunAt(answer, at) } : {}) };
}

/** A call that was cut, from its opening marker: as much of name and arguments as was written. */
function begunAt(answer: string, at: number): AnsweredCall {
  const text = answer.slice(at + CALL_OPEN.length);
  const [, name = ""] = /^\s*\{\s*"name"\s*:\s*"([^"\\]*)/.exec(text) ?? [];
  const [, written = ""] = /"arguments"\s*:\s*([^]*)$/.exec(text) ?? [];
  return { name, arguments: written };
}

function skip(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text.charAt(at))) at++;
  return at;
}

/** The end of the object that begins at `from`; undefined if it does not begin or end. */
function valueEnd(text: string, from: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const each = text.charAt(at);
    if (quoted) {
      if (each === "\\") at++;
      else if (each === '"') quoted = false;
    } else if (each === '"') quoted = true;
    else if (each === "{" || each === "[") depth++;
    else if (each === "}" || each === "]") depth--;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

/** The two members of a call. The arguments keep their exact text. */
function callOf(text: string): AnsweredCall | undefined {
  const head = /^\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*/.exec(text);
  if (head === null) return undefined;
  try {
    const name: unknown = JSON.parse(head[1] ?? "");
    const written = text.slice(head[0].length, -1).trimEnd();
    return typeof name === "string" ? { name, arguments: written } : undefined;
  } catch {
    // The name has an escape that JSON does not define.
    return undefined;
  }
}
