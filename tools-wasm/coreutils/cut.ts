/** `cut`. @module */
import { UsageError } from "./faults.ts";
import { readOptions, wholeNumber } from "./options.ts";
import { forEach, orStdin, type Program } from "./program.ts";

/** Prints chosen fields or characters of each line. */
export const cut: Program = {
  usage: "-f LIST [-d CHAR] [-s] | -c LIST [--output-delimiter TEXT] [FILE…]",
  async run({ words, input, output }) {
    const given = readOptions(words, {
      ...{ f: true, d: true, c: true, b: true, s: false, "output-delimiter": true },
    });
    const fields = given.value("f"), chars = given.value("c") ?? given.value("b");
    const delimiter = given.value("d") ?? "\t";
    if ((fields === undefined) === (chars === undefined)) throw new UsageError("give -f or -c");
    if ([...delimiter].length !== 1) throw new UsageError("-d takes one character");
    const wanted = readList(fields ?? chars ?? "");
    const joint = given.value("output-delimiter") ?? (fields === undefined ? "" : delimiter);
    return await forEach({ name: "cut", output }, orStdin(given.operands), async (name) => {
      for await (const { lines } of input.lines(name)) {
        for (const line of lines) {
          if (fields !== undefined && !line.includes(delimiter)) {
            if (!given.has("s")) output.line(line);
            continue;
          }
          const parts = fields === undefined ? [...line] : line.split(delimiter);
          output.line(parts.filter((_, at) => wanted(at + 1)).join(joint));
        }
      }
    });
  },
};

function readList(text: string): (at: number) => boolean {
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
  return (at) => ranges.some(({ least, most }) => at >= least && at <= most);
}
