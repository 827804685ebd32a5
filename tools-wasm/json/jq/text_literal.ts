/** Texts in a filter: escapes, and filters within them. @module */
import type { Cursor } from "./cursor.ts";
import type { Ast } from "./syntax.ts";

/** A text with filters in it. */
export type TextNode = Extract<Ast, { readonly kind: "text" }>;

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

/** Reads a text in quotes; `pipe` reads what stands in `\(…)`. */
export function readText(cursor: Cursor, pipe: () => Ast): TextNode {
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
