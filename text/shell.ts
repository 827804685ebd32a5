/** Quotes words so that a POSIX shell takes each as one literal word. @module */

/** A word in single quotes: a shell expands nothing in it. */
export function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * One line for a shell; words without special characters stay unquoted.
 *
 * @example
 * ```ts
 * import { shellLine } from "./shell.ts";
 * if (shellLine(["node", "a b", ";"]) !== "node 'a b' ';'") throw new Error("not quoted");
 * ```
 */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => /^[\w@%+:,./-][\w@%+:,./=-]*$/.test(word) ? word : shellQuoted(word))
    .join(" ");
}
