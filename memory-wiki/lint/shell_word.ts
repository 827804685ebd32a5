/** Words of a command that a person may paste. @module */

const PLAIN = /^[\w@%+=:,./-]+$/u;

/** `word` as one word of a shell's command line, quoted where it must be. */
export function shellWord(word: string): string {
  return PLAIN.test(word) && !word.startsWith("-") ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
