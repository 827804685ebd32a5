/**
 * Parses everything that binds tighter than operators: literals, paths, constructions, keywords and
 * calls. @module
 */
import type { Cursor } from "./cursor.ts";
import { finite } from "./operators.ts";
import {
  type Ast,
  type Definition,
  type Fold,
  IDENTITY,
  type Pattern,
  type PatternEntry,
} from "./syntax.ts";

/** The rules of parse.ts that terms use recursively. */
export interface Reader {
  pipe(): Ast;
  /** Operators of at least this strength; 2 excludes commas. */
  expression(weakest: number): Ast;
  definition(): Definition | undefined;
}

const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?/y;
const NAME = /[a-zA-Z_][a-zA-Z0-9_]*(?:::[a-zA-Z_][a-zA-Z0-9_]*)*/y;
const FIELD = /\.[a-zA-Z_][a-zA-Z0-9_]*/y;
const VARIABLE = /\$[a-zA-Z_][a-zA-Z0-9_]*/y;
const FORMAT = /@[a-z0-9]+/y;
const RESERVED = new Set(
  "then elif else end as and or catch def of label import include".split(" "),
);

/** The rules for terms over a cursor. */
export function makeTerms(cursor: Cursor, reader: Reader) {
  const postfix = (): Ast => {
    let term = primary();
    while (true) {
      const suffix = suffixOf(term);
      if (suffix !== undefined) term = suffix;
      else if (cursor.word("as")) {
        const fold = { source: term, pattern: pattern() };
        cursor.expect("|");
        return { kind: "as", fold, body: reader.pipe() };
      } else return term;
    }
  };

  const suffixOf = (of: Ast): Ast | undefined => {
    if (cursor.sign("?")) return { kind: "try", body: of };
    const field = cursor.match(FIELD);
    if (field !== undefined) return { kind: "index", of, key: literal(field.slice(1)) };
    if (cursor.sign("[")) return bracket(of);
    if (cursor.peek() !== "." || !cursor.sign(".")) return undefined;
    if (cursor.peek() === '"') return { kind: "index", of, key: text() };
    if (cursor.sign("[")) return bracket(of);
    throw cursor.fail("a name is missing after the dot");
  };

  const bracket = (of: Ast): Ast => {
    if (cursor.sign("]")) return { kind: "each", of };
    if (cursor.sign(":")) {
      const to = reader.pipe();
      cursor.expect("]");
      return { kind: "slice", of, to };
    }
    const key = reader.pipe();
    if (!cursor.sign(":")) {
      cursor.expect("]");
      return { kind: "index", of, key };
    }
    if (cursor.sign("]")) return { kind: "slice", of, from: key };
    const to = reader.pipe();
    cursor.expect("]");
    return { kind: "slice", of, from: key, to };
  };

  const primary = (): Ast => {
    const next = cursor.peek();
    if (next === undefined) throw cursor.fail("something is missing");
    if (next === '"') return text();
    const number = cursor.match(NUMBER);
    if (number !== undefined) return literal(finite(Number(number)));
    if (cursor.sign("..")) return { kind: "recurse" };
    const field = cursor.match(FIELD);
    if (field !== undefined) return { kind: "index", of: IDENTITY, key: literal(field.slice(1)) };
    if (cursor.sign(".")) {
      return cursor.peek() === '"' ? { kind: "index", of: IDENTITY, key: text() } : IDENTITY;
    }
    const variable = cursor.match(VARIABLE);
    if (variable !== undefined) return { kind: "variable", name: variable.slice(1) };
    const format = cursor.match(FORMAT);
    if (format !== undefined) {
      return cursor.peek() === '"' ? { ...text(), format } : { kind: "format", name: format };
    }
    if (cursor.sign("(")) return closed(")", reader.pipe());
    if (cursor.sign("[")) {
      return cursor.sign("]")
        ? { kind: "array" }
        : { kind: "array", of: closed("]", reader.pipe()) };
    }
    if (cursor.sign("{")) return object();
    if (cursor.sign("-")) return { kind: "negate", of: cursor.nested(postfix) };
    return keyword() ?? call();
  };

  const keyword = (): Ast | undefined => {
    if (cursor.word("if")) return condition();
    if (cursor.word("try")) {
      const body = cursor.nested(tight);
      return cursor.word("catch")
        ? { kind: "try", body, handler: cursor.nested(tight) }
        : { kind: "try", body };
    }
    if (cursor.word("reduce")) {
      const fold = foldOf();
      const [init, update] = [reader.pipe(), afterSemicolon()];
      cursor.expect(")");
      return { kind: "reduce", fold, init, update };
    }
    if (!cursor.word("foreach")) return undefined;
    const fold = foldOf();
    const [init, update] = [reader.pipe(), afterSemicolon()];
    const extract = cursor.sign(";") ? reader.pipe() : undefined;
    cursor.expect(")");
    return { kind: "foreach", fold, init, update, ...(extract === undefined ? {} : { extract }) };
  };

  const foldOf = (): Fold => {
    const source = cursor.nested(tight);
    if (!cursor.word("as")) throw cursor.fail('"as" is missing');
    const fold = { source, pattern: pattern() };
    cursor.expect("(");
    return fold;
  };

  const afterSemicolon = (): Ast => {
    cursor.expect(";");
    return reader.pipe();
  };

  /** A term with suffixes but without `as`: the operand of `try`, `reduce` and `foreach`. */
  const tight = (): Ast => {
    let term = primary();
    for (let suffix = suffixOf(term); suffix !== undefined; suffix = suffixOf(term)) term = suffix;
    return term;
  };

  const condition = (): Ast => {
    const test = reader.pipe();
    if (!cursor.word("then")) throw cursor.fail('"then" is missing');
    const then = reader.pipe();
    if (cursor.word("elif")) return { kind: "if", test, then, otherwise: cursor.nested(condition) };
    const otherwise = cursor.word("else") ? reader.pipe() : undefined;
    if (!cursor.word("end")) throw cursor.fail('"end" is missing');
    return { kind: "if", test, then, ...(otherwise === undefined ? {} : { otherwise }) };
  };

  const call = (): Ast => {
    const name = cursor.match(NAME);
    if (name === undefined || RESERVED.has(name)) {
      throw cursor.fail("a value or a function is missing");
    }
    if (name === "null" || name === "true" || name === "false") {
      return literal(name === "null" ? null : name === "true");
    }
    const args: Ast[] = [];
    if (cursor.sign("(")) {
      do args.push(reader.pipe()); while (cursor.sign(";"));
      cursor.expect(")");
    }
    return { kind: "call", name, args };
  };

  const closed = (sign: string, ast: Ast): Ast => {
    cursor.expect(sign);
    return ast;
  };

  const object = (): Ast => {
    const entries: (readonly [Ast, Ast])[] = [];
    if (cursor.sign("}")) return { kind: "object", entries };
    do entries.push(entry()); while (cursor.sign(","));
    cursor.expect("}");
    return { kind: "object", entries };
  };

  const entry = (): readonly [Ast, Ast] => {
    const variable = cursor.match(VARIABLE);
    if (variable !== undefined) {
      return [literal(variable.slice(1)), { kind: "variable", name: variable.slice(1) }];
    }
    const key = objectKey();
    if (cursor.sign(":")) return [key, entryValue()];
    return [key, { kind: "index", of: IDENTITY, key }];
  };

  const objectKey = (): Ast => {
    if (cursor.peek() === '"') return text();
    if (cursor.sign("(")) return closed(")", reader.pipe());
    const format = cursor.match(FORMAT);
    if (format !== undefined) return { ...text(), format };
    const name = cursor.match(NAME) ?? cursor.match(NUMBER);
    if (name === undefined) throw cursor.fail("a key is missing");
    return literal(name);
  };

  /** An entry's value ends at a comma, and may be piped. */
  const entryValue = (): Ast => {
    const parts = [reader.expression(2)];
    while (cursor.sign("|")) parts.push(reader.expression(2));
    return parts.reduceRight((right, left) => ({ kind: "pipe", left, right }));
  };

  const pattern = (): Pattern =>
    cursor.nested(() => {
      const variable = cursor.match(VARIABLE);
      if (variable !== undefined) return { kind: "name", name: variable.slice(1) };
      if (cursor.sign("[")) {
        const items: Pattern[] = [];
        do items.push(pattern()); while (cursor.sign(","));
        cursor.expect("]");
        return { kind: "list", items };
      }
      cursor.expect("{");
      const entries: PatternEntry[] = [];
      do entries.push(patternEntry()); while (cursor.sign(","));
      cursor.expect("}");
      return { kind: "object", entries };
    });

  const patternEntry = (): PatternEntry => {
    const variable = cursor.match(VARIABLE)?.slice(1);
    const key = variable === undefined ? objectKey() : literal(variable);
    const below = cursor.sign(":") ? pattern() : undefined;
    if (variable === undefined && below === undefined) {
      throw cursor.fail('":" and a pattern are missing');
    }
    return {
      key,
      ...(variable === undefined ? {} : { name: variable }),
      ...(below === undefined ? {} : { pattern: below }),
    };
  };

  const text = (): TextNode => readText(cursor, reader.pipe);

  const definition = (): Definition | undefined => {
    if (!cursor.word("def")) return undefined;
    const name = cursor.match(NAME);
    if (name === undefined) throw cursor.fail("a name is missing");
    const params: string[] = [];
    if (cursor.sign("(")) {
      do params.push(cursor.match(VARIABLE) ?? cursor.match(NAME) ?? ""); while (cursor.sign(";"));
      cursor.expect(")");
    }
    cursor.expect(":");
    const body = reader.pipe();
    cursor.expect(";");
    return { name, params, body };
  };

  return Object.freeze({ postfix, definition });
}

function literal(value: string | number | boolean | null): Ast {
  return { kind: "literal", value };
}

// Texts in a filter: escapes, and embedded filters.

/** A text with embedded filters. */
type TextNode = Extract<Ast, { readonly kind: "text" }>;

const ESCAPED: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** Parses a quoted text; `pipe` parses the filters in `\(…)`. */
function readText(cursor: Cursor, pipe: () => Ast): TextNode {
  cursor.expect('"');
  const parts: (string | Ast)[] = [];
  let plain = "";
  while (true) {
    const char = cursor.raw();
    if (char === undefined) throw cursor.fail("a text is not closed");
    if (char === '"') return { kind: "text", parts: [...parts, plain] };
    if (char !== "\\") {
      plain += char;
      continue;
    }
    const escape = cursor.raw() ?? "";
    if (escape === "(") {
      parts.push(plain, pipe());
      cursor.expect(")");
      plain = "";
    } else if (escape === "u") plain += unit(cursor);
    else if (Object.hasOwn(ESCAPED, escape)) plain += ESCAPED[escape] ?? "";
    else throw cursor.fail(`"\\${escape}" is no escape`);
  }
}

function unit(cursor: Cursor): string {
  const digits = [1, 2, 3, 4].map(() => cursor.raw() ?? "").join("");
  if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw cursor.fail("four digits should follow \\u");
  return String.fromCharCode(Number.parseInt(digits, 16));
}
