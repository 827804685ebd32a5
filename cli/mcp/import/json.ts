/** JSON with comments and trailing commas, as editors write it. @module */

/**
 * Parses it. Throws SyntaxError.
 *
 * @example
 * ```ts
 * import { parseJsonc } from "./json.ts";
 * const read = parseJsonc('{ "a": [1, 2,], // two\n }');
 * if (JSON.stringify(read) !== '{"a":[1,2]}') throw new Error("not read");
 * ```
 */
export function parseJsonc(text: string): unknown {
  // A string, a comment, or a comma that only closes what follows: in one pass, so that none hides in another.
  const plain = text.replace(/^\ufeff/, "").replace(
    /"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g,
    (part) => part.startsWith("/") ? " " : part,
  );
  return JSON.parse(plain.replace(
    /"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g,
    (part) => part === "," ? "" : part,
  ));
}
