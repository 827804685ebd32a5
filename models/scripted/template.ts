/**
 * Templates: `{{ SOURCE | STEP | STEP }}` inside a string. Sources and steps are listed in mod.ts.
 * There are no loops, conditions or regular expressions, so a template ends.
 * @module
 */
import { isList, type Json } from "../../contracts/json.ts";
import { Fault } from "../../contracts/fault.ts";
import { applyStep, parseStep, type Step } from "./steps.ts";
import { type Token, tokenize } from "./tokens.ts";

/** What a template may quote. */
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
export type Template = readonly (string | Expression)[];

/**
 * Parses a string.
 * @throws SyntaxError with the reason, when an expression in it is wrong.
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
 * Fills a template. One that is a single expression gives the value itself, so `json /size` can be
 * a number; in a longer text, values that are not strings stand as JSON.
 * @throws Fault `upstream` when something it quotes is not there.
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

/** Parses and fills every string in a value; keys stand as they are. */
export function renderValue(value: Json, quotable: Quotable): Json {
  if (typeof value === "string") return renderTemplate(parseTemplate(value), quotable);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => renderValue(item, quotable));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, renderValue(item, quotable)]),
  );
}

/** Like {@link renderTemplate}, always a text. */
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
