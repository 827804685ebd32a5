/** `sort`. @module */
import { UsageError } from "./faults.ts";
import { WHOLE_LIMIT } from "./input.ts";
import { readOptions } from "./options.ts";
import { forEach, orStdin, type Program } from "./program.ts";
import {
  compareTexts,
  compareValues,
  type KeyValue,
  partOf,
  type Reading,
  readKey,
  type SortKey,
  valueOf,
} from "./sort_keys.ts";

interface Keyed {
  readonly line: string;
  readonly values: readonly KeyValue[];
}

/** Sorts the lines of all files together, by code points. */
export const sort: Program = {
  usage: "[-bcfnrsu] [-t CHAR] [-k FROM[,TO]]… [FILE…]",
  async run({ words, input, output }) {
    const given = readOptions(words, {
      ...{ b: false, c: false, f: false, n: false, r: false, u: false, s: false },
      ...{ t: true, "field-separator": "t", k: true, key: "k", o: true, output: "o" },
      ...{ "ignore-leading-blanks": "b", check: "c", "ignore-case": "f", "numeric-sort": "n" },
      ...{ reverse: "r", stable: "s", unique: "u" },
    });
    if (given.has("o")) throw new UsageError("-o: sort writes to stdout only");
    const separator = given.value("t");
    if (separator !== undefined && [...separator].length !== 1) {
      throw new UsageError("-t takes one character");
    }
    const [b, f, n, r] = [given.has("b"), given.has("f"), given.has("n"), given.has("r")];
    const all: Reading = { b, f, n, r };
    const whole: SortKey = { ...all, from: 1, to: undefined };
    const named = given.values("k").map((text) => readKey(text, all));
    const keys = named.length > 0 ? named : [whole];
    const unique = given.has("u"), checking = given.has("c");

    const lines: string[] = [];
    let held = 0;
    const exit = await forEach({ name: "sort", output }, orStdin(given.operands), async (name) => {
      for await (const { lines: some } of input.lines(name)) {
        for (const line of some) {
          held += line.length + 1;
          if (held > WHOLE_LIMIT) throw new UsageError(`more than ${WHOLE_LIMIT} characters`);
          lines.push(line);
        }
      }
    });

    if (!checking && named.length === 0 && !b && !f && !n) {
      sortWhole(lines, r);
      const kept = unique ? lines.filter((line, at) => line !== lines[at - 1]) : lines;
      for (const line of kept) output.line(line);
      return exit;
    }
    const keyed = lines.map((line): Keyed => ({
      line,
      values: keys.map((key) => valueOf(partOf(line, key, separator), key)),
    }));
    const byKeys = (one: Keyed, other: Keyed): number => {
      for (const [at, key] of keys.entries()) {
        const order = compareValues(one.values[at] ?? "", other.values[at] ?? "");
        if (order !== 0) return key.r ? -order : order;
      }
      return 0;
    };
    // Lines with equal keys are ordered by their whole text, unless the sort is stable.
    const compare = unique || given.has("s")
      ? byKeys
      : (one: Keyed, other: Keyed): number =>
        byKeys(one, other) || compareTexts(one.line, other.line) * (r ? -1 : 1);
    if (checking) {
      const limit = unique ? -1 : 0;
      const wrong = keyed.find((one, at) => {
        const before = keyed[at - 1];
        return before !== undefined && compare(before, one) > limit;
      });
      if (wrong === undefined) return exit;
      output.error(`sort: disorder: ${wrong.line}`);
      return 1;
    }
    keyed.sort(compare);
    let before: Keyed | undefined;
    for (const one of keyed) {
      if (unique && before !== undefined && byKeys(before, one) === 0) continue;
      before = one;
      output.line(one.line);
    }
    return exit;
  },
};

/** The engine's own sort is many times faster than a comparison here; surrogates need ours. */
function sortWhole(lines: string[], reverse: boolean): void {
  if (lines.some((line) => /[\ud800-\udfff]/.test(line))) lines.sort(compareTexts);
  else lines.sort();
  if (reverse) lines.reverse();
}
