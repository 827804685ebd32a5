/** Words as a POSIX shell takes them, each as one word that it does nothing with. @module */

/** A word in single quotes: a shell expands nothing of it. */
export function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Words as one line for a shell; a word that no shell reads anything into stands without quotes.
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
