/**
 * Parses calls in Python syntax: `[name(a=1, b="x")]`, as Llama and Gemma write them. Literals only; nothing
 * is evaluated. Used by _forms.ts.
 * @module
 */
import type { Json } from "../../../contracts/base/json.ts";

/** Nested lists and dictionaries. */
const MAX_DEPTH = 32;
const WORDS: Readonly<Record<string, Json>> = {
  ...{ True: true, False: false, None: null, true: true, false: false, null: null },
};
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", "0": "\0", "\n": "" },
};

/** A call with its keyword arguments. */
export interface PythonCall {
  readonly name: string;
  readonly args: Readonly<Record<string, Json>>;
}

/** Parses one call or a list of them, also within `print(…)`. Throws `SyntaxError`. */
export function pythonCalls(text: string): readonly PythonCall[] {
  let at = 0;
  const wrong = (why: string): SyntaxError => new SyntaxError(`${why} at character ${at}`);
  const space = (): void => {
    while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
  };
  const next = (char: string): boolean => {
    space();
    if (text[at] !== char) return false;
    at += 1;
    return true;
  };
  const need = (char: string): void => {
    if (!next(char)) throw wrong(`"${char}" is missing`);
  };
  const match = (pattern: RegExp): string | undefined => {
    space();
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const quoted = (): string => {
    const mark = text.startsWith(text.charAt(at).repeat(3), at)
      ? text.charAt(at).repeat(3)
      : text.charAt(at);
    at += mark.length;
    const parts: string[] = [];
    while (!text.startsWith(mark, at)) {
      if (at >= text.length) throw wrong("a text has no end");
      if (text[at] !== "\\") {
        parts.push(text.charAt(at++));
        continue;
      }
      const code = /^\\(?:x([\da-f]{2})|u([\da-f]{4}))/i.exec(text.slice(at, at + 6));
      if (code !== null) {
        parts.push(String.fromCharCode(parseInt(code[1] ?? code[2] ?? "0", 16)));
        at += code[0].length;
        continue;
      }
      const char = text.charAt(at + 1);
      // As in Python, an unknown escape stays as it is.
      parts.push(
        Object.hasOwn(ESCAPES, char)
          ? ESCAPES[char] ?? ""
          : /[\\'"]/.test(char)
          ? char
          : `\\${char}`,
      );
      at += 2;
    }
    at += mark.length;
    return parts.join("");
  };
  const value = (depth: number): Json => {
    if (depth > MAX_DEPTH) throw wrong("it is nested too deeply");
    space();
    const char = text[at];
    if (char === '"' || char === "'") return quoted();
    if (char === "[" || char === "(") {
      at += 1;
      const close = char === "[" ? "]" : ")";
      const items: Json[] = [];
      while (!next(close)) {
        items.push(value(depth + 1));
        if (!next(",")) {
          need(close);
          break;
        }
      }
      return items;
    }
    if (char === "{") {
      at += 1;
      const entries: [string, Json][] = [];
      while (!next("}")) {
        const key = value(depth + 1);
        need(":");
        entries.push([typeof key === "string" ? key : JSON.stringify(key), value(depth + 1)]);
        if (!next(",")) {
          need("}");
          break;
        }
      }
      return Object.fromEntries(entries);
    }
    const number = match(/[-+]?(?:\d[\d_]*)(?:\.\d*)?(?:[eE][-+]?\d+)?/y);
    if (number !== undefined) return Number(number.replaceAll("_", ""));
    const word = match(/[A-Za-z_]\w*/y) ?? "";
    if (!Object.hasOwn(WORDS, word)) {
      throw wrong(`${JSON.stringify(word.slice(0, 40))} is no value`);
    }
    return WORDS[word] ?? null;
  };
  const call = (): PythonCall => {
    const name = match(/[A-Za-z_][\w.]*/y);
    if (name === undefined) throw wrong("a name is missing");
    need("(");
    if (name === "print") {
      const inner = call();
      need(")");
      return inner;
    }
    const entries: [string, Json][] = [];
    while (!next(")")) {
      const key = match(/[A-Za-z_]\w*(?=\s*=)/y);
      if (key === undefined) throw wrong("an argument has no name");
      need("=");
      entries.push([key, value(0)]);
      if (!next(",")) {
        need(")");
        break;
      }
    }
    return { name, args: Object.fromEntries(entries) };
  };

  const calls: PythonCall[] = [];
  if (next("[")) {
    while (!next("]")) {
      calls.push(call());
      if (!next(",")) {
        need("]");
        break;
      }
    }
  } else {
    do calls.push(call()); while (next(";") && /\S/.test(text.slice(at)));
    space();
    while (at < text.length) {
      calls.push(call());
      space();
    }
  }
  space();
  if (at < text.length) throw wrong("something follows the call");
  if (calls.length === 0) throw wrong("there is no call");
  return calls;
}
