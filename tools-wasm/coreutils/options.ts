/** Parses options the POSIX way, from a list of words rather than a line of text. @module */
import { UsageError } from "./faults.ts";

/** Options by letter or long name. True: takes a value. A text: alias of that option. */
export type OptionTable = Readonly<Record<string, boolean | string>>;

/** The parsed arguments. */
export interface Given {
  /** Tells whether one of these was given. */
  has(...names: readonly string[]): boolean;
  /** The last value of an option. */
  value(name: string): string | undefined;
  /** Every value of an option, in order. */
  values(name: string): readonly string[];
  readonly operands: readonly string[];
}

/**
 * Parses the words of a program. `--` ends options; letters may be joined (`-rn`), a value follows
 * (`-n5`, `-n 5`, `--name=x`, `--name x`). A lone `-` is an operand. With `digits`, `-5` means `-n
 * 5`.
 *
 * @throws UsageError for an unknown option, or a missing or unexpected value
 */
export function readOptions(
  words: readonly string[],
  table: OptionTable,
  { digits = false }: { readonly digits?: boolean } = {},
): Given {
  const given: { readonly name: string; readonly value: string | undefined }[] = [];
  const operands: string[] = [];
  const find = (
    word: string,
    shown: string,
  ): { readonly name: string; readonly wants: boolean } => {
    const row = Object.hasOwn(table, word) ? table[word] : undefined;
    if (row === undefined) throw new UsageError(`unknown option ${shown}`);
    return typeof row === "string" ? find(row, shown) : { name: word, wants: row };
  };
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const next = (shown: string): string => {
      const value = words[++at];
      if (value === undefined) throw new UsageError(`option ${shown} needs a value`);
      return value;
    };
    if (word === "--") {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (word === "-" || !word.startsWith("-")) {
      operands.push(word);
    } else if (word.startsWith("--")) {
      const sign = word.indexOf("=");
      const long = word.slice(2, sign < 0 ? undefined : sign), shown = `--${long}`;
      if (long.length < 2) throw new UsageError(`unknown option ${shown}`);
      const { name, wants } = find(long, shown);
      if (sign >= 0 && !wants) throw new UsageError(`option ${shown} takes no value`);
      const value = !wants ? undefined : sign < 0 ? next(shown) : word.slice(sign + 1);
      given.push({ name, value });
    } else if (digits && /^-[0-9]+$/.test(word)) {
      given.push({ name: "n", value: word.slice(1) });
    } else {
      const letters = word.slice(1);
      for (let i = 0; i < letters.length; i++) {
        const shown = `-${letters.charAt(i)}`;
        const { name, wants } = find(letters.charAt(i), shown);
        if (!wants) {
          given.push({ name, value: undefined });
          continue;
        }
        const rest = letters.slice(i + 1);
        given.push({ name, value: rest === "" ? next(shown) : rest });
        break;
      }
    }
  }
  const values = (name: string): readonly string[] =>
    given.flatMap((one) => one.name === name && one.value !== undefined ? [one.value] : []);
  return Object.freeze({
    has: (...names: readonly string[]) => given.some(({ name }) => names.includes(name)),
    value: (name: string) => values(name).at(-1),
    values,
    operands,
  });
}

/** A whole number within bounds. Throws {@link UsageError}. */
export function wholeNumber(
  text: string,
  what: string,
  { min = 0, max = 1e12 }: { readonly min?: number; readonly max?: number } = {},
): number {
  const number = /^[0-9]{1,13}$/.test(text) ? Number(text) : NaN;
  if (!(number >= min && number <= max)) {
    throw new UsageError(
      `${what} ${JSON.stringify(text.slice(0, 40))} is not a number from ${min}`,
    );
  }
  return number;
}
