/** `cut`. @module */
import { FileError, UsageError } from "./faults.ts";
import { readOptions, wholeNumber } from "./options.ts";
import { utf8Bytes } from "./output.ts";
import { forEach, orStdin, type Program } from "./program.ts";

/** Prints chosen fields or characters of each line. */
export const cut: Program = {
  usage: "(-f LIST [-d CHAR] [-s] | -c LIST | -b LIST) [--output-delimiter TEXT] [FILE…]",
  async run({ words, input, output }) {
    const given = readOptions(words, {
      ...{ f: true, fields: "f", d: true, delimiter: "d", c: true, characters: "c" },
      ...{ b: true, bytes: "b", s: false, "only-delimited": "s", "output-delimiter": true },
    });
    const [list, ...more] = ["f", "c", "b"].flatMap((name) => given.values(name));
    if (list === undefined || more.length > 0) throw new UsageError("give one of -f, -c and -b");
    const byField = given.has("f"), byByte = given.has("b");
    if (!byField && given.has("d", "s")) throw new UsageError("-d and -s go with -f");
    const delimiter = given.value("d") ?? "\t";
    if ([...delimiter].length !== 1) throw new UsageError("-d takes one character");
    const ranges = readList(list);
    const joint = given.value("output-delimiter") ?? (byField ? delimiter : "");
    return await forEach({ name: "cut", output }, orStdin(given.operands), async (name) => {
      for await (const { lines } of input.lines(name)) {
        for (const line of lines) {
          if (byField && !line.includes(delimiter)) {
            if (!given.has("s")) output.line(line);
            continue;
          }
          if (byByte && utf8Bytes(line) > line.length) {
            throw new FileError(`${name}: -b would cut within a character; use -c`);
          }
          const parts = byField ? line.split(delimiter) : [...line];
          const kept = ranges.map(({ least, most }) => parts.slice(least - 1, most));
          // Fields are joined one by one, characters range by range.
          const joined = byField
            ? kept.flat()
            : kept.filter(({ length }) => length > 0).map((range) => range.join(""));
          output.line(joined.join(joint));
        }
      }
    });
  },
};

interface Range {
  readonly least: number;
  readonly most: number;
}

/** Ranges in the order of a line, each place in one of them. */
function readList(text: string): readonly Range[] {
  const ranges = text.split(",").map((part) => {
    const [, from = "", dash, to = ""] = /^([0-9]*)(-?)([0-9]*)$/.exec(part) ?? [];
    if (from === "" && to === "") {
      throw new UsageError(`not a list: ${JSON.stringify(text.slice(0, 40))}`);
    }
    const least = from === "" ? 1 : wholeNumber(from, "a list's number", { least: 1 });
    const most = dash === "" ? least : to === "" ? Infinity : wholeNumber(to, "a list's number");
    if (most < least) throw new UsageError("a range is the wrong way round");
    return { least, most };
  });
  const joined: Range[] = [];
  for (const range of ranges.sort((a, b) => a.least - b.least)) {
    const last = joined.at(-1);
    if (last === undefined || range.least > last.most) joined.push(range);
    else {
      joined[joined.length - 1] = { least: last.least, most: Math.max(last.most, range.most) };
    }
  }
  return joined;
}
