/** `sort`. @module */
import { UsageError } from "./faults.ts";
import { WHOLE_LIMIT } from "./input.ts";
import { type Given, readOptions, wholeNumber } from "./options.ts";
import { forEach, orStdin, type Program } from "./program.ts";

/** Sorts the lines of all files together, by code points. */
export const sort: Program = {
  usage: "[-bcfnru] [-t CHAR] [-k FROM[,TO]]… [FILE…]",
  async run({ words, input, output }) {
    const given = readOptions(words, {
      ...{ b: false, c: false, f: false, n: false, r: false, u: false, s: false },
      ...{ t: true, k: true, o: true, key: true, reverse: false, unique: false },
    });
    if (given.has("o")) throw new UsageError("-o: sort writes to stdout only");
    const order = makeOrder(given);
    const reverse = given.has("r", "reverse") ? -1 : 1;
    const all: string[] = [];
    let held = 0;
    const exit = await forEach({ name: "sort", output }, orStdin(given.operands), async (name) => {
      for await (const { lines } of input.lines(name)) {
        for (const line of lines) {
          held += line.length + 1;
          if (held > WHOLE_LIMIT) throw new UsageError(`more than ${WHOLE_LIMIT} characters`);
          all.push(line);
        }
      }
    });
    if (!given.has("c", "k", "key", "b", "f", "n", "t")) {
      // Whole lines as they are: the engine's own order, many times faster than a comparison here.
      all.sort();
      if (reverse < 0) all.reverse();
      const kept = given.has("u", "unique") ? all.filter((line, at) => line !== all[at - 1]) : all;
      for (const line of kept) output.line(line);
      return exit;
    }
    const keyed = all.map((line) => ({ line, keys: order.keysOf(line) }));
    const compare = (a: Keyed, b: Keyed): number => order.compare(a, b) * reverse;
    if (given.has("c")) {
      for (let at = 1; at < keyed.length; at++) {
        const [a, b] = [keyed[at - 1], keyed[at]];
        if (a === undefined || b === undefined || compare(a, b) <= 0) continue;
        output.error(`sort: disorder: ${b.line}`);
        return 1;
      }
      return exit;
    }
    const unique = given.has("u", "unique");
    const last = (a: Keyed, b: Keyed): number =>
      unique || given.has("s") ? 0 : (a.line < b.line ? -1 : a.line > b.line ? 1 : 0) * reverse;
    keyed.sort((a, b) => compare(a, b) || last(a, b));
    let before: Keyed | undefined;
    for (const one of keyed) {
      if (unique && before !== undefined && compare(before, one) === 0) continue;
      before = one;
      output.line(one.line);
    }
    return exit;
  },
};

type Key = string | number;
interface Keyed {
  readonly line: string;
  readonly keys: readonly Key[];
}
interface Order {
  keysOf(line: string): readonly Key[];
  compare(a: Keyed, b: Keyed): number;
}

function makeOrder(given: Given): Order {
  const separator = given.value("t");
  if (separator !== undefined && [...separator].length !== 1) {
    throw new UsageError("-t takes one character");
  }
  const keys = [...given.values("k"), ...given.values("key")].map(readKey);
  const fold = given.has("f"), numeric = given.has("n"), trim = given.has("b");
  const value = (text: string, flags: string): Key => {
    const bare = trim || flags.includes("b") ? text.trimStart() : text;
    if (numeric || flags.includes("n")) {
      const number = /^\s*-?[0-9]*\.?[0-9]*/.exec(bare)?.[0] ?? "";
      return Number(number) || 0;
    }
    return fold || flags.includes("f") ? bare.toUpperCase() : bare;
  };
  const fieldsOf = (line: string): readonly string[] =>
    separator === undefined ? line.match(/\s*\S+/g) ?? [] : line.split(separator);
  return {
    keysOf(line: string): readonly Key[] {
      if (keys.length === 0) return [value(line, "")];
      const fields = fieldsOf(line);
      return keys.map(({ from, to, flags }) =>
        value(fields.slice(from - 1, to).join(separator ?? ""), flags)
      );
    },
    compare(a: Keyed, b: Keyed): number {
      for (const [at, left] of a.keys.entries()) {
        const right = b.keys[at] ?? "";
        const sign = keys[at]?.flags.includes("r") === true ? -1 : 1;
        if (left !== right) return left < right ? -sign : sign;
      }
      return 0;
    },
  };
}

function readKey(
  text: string,
): { readonly from: number; readonly to: number | undefined; readonly flags: string } {
  const parts = /^([0-9]{1,4})([bfnr]*)(?:,([0-9]{1,4})([bfnr]*))?$/.exec(text);
  if (parts === null) {
    throw new UsageError(`-k ${JSON.stringify(text.slice(0, 40))}: not FROM[,TO]`);
  }
  const from = wholeNumber(parts[1] ?? "", "-k", { least: 1 });
  const to = parts[3] === undefined ? undefined : wholeNumber(parts[3], "-k", { least: from });
  return { from, to, flags: (parts[2] ?? "") + (parts[4] ?? "") };
}
