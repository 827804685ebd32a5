/** One plain command of a shell's script, as words. @module */

/** What a shell would do more with than pass it on. */
const SPECIAL = /[$`;&|<>(){}*?[\]~!#\\\n]/;

/**
 * Splits it as a shell would, with quotes; undefined where a shell would do anything else with it.
 *
 * @example
 * ```ts
 * import { splitWords } from "./words.ts";
 * if (splitWords("npx -y 'a b'")?.length !== 3) throw new Error("not split");
 * if (splitWords("npx $A") !== undefined) throw new Error("a shell would expand that");
 * ```
 */
export function splitWords(script: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < script.length; at++) {
    const letter = script.charAt(at);
    if (letter === "'" || letter === '"') {
      const end = script.indexOf(letter, at + 1);
      const inner = script.slice(at + 1, end);
      if (end < 0 || (letter === '"' && /[$`\\!]/.test(inner))) return undefined;
      word = (word ?? "") + inner;
      at = end;
    } else if (letter === " " || letter === "\t") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (SPECIAL.test(letter)) return undefined;
    else word = (word ?? "") + letter;
  }
  if (word !== undefined) words.push(word);
  // `NAME=VALUE command`: a variable, no program.
  return words.length === 0 || /^[A-Za-z_][A-Za-z0-9_]*=/.test(words[0] ?? "") ? undefined : words;
}
