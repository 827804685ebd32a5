/** `uniq`. @module */
import { UsageError } from "./faults.ts";
import { readOptions } from "./options.ts";
import { forEach, orStdin, type Program } from "./program.ts";

/** Joins neighbouring lines that are the same. */
export const uniq: Program = {
  usage: "[-cdiu] [FILE]",
  async run({ words, input, output }) {
    const given = readOptions(words, { c: false, d: false, i: false, u: false });
    if (given.operands.length > 1) throw new UsageError("uniq writes to stdout only");
    let line: string | undefined, key = "", times = 0;
    const tell = (): void => {
      if (line === undefined || (given.has("d") && times < 2) || (given.has("u") && times > 1)) {
        return;
      }
      output.line(given.has("c") ? `${String(times).padStart(7)} ${line}` : line);
    };
    return await forEach({ name: "uniq", output }, orStdin(given.operands), async (name) => {
      for await (const { lines } of input.lines(name)) {
        for (const next of lines) {
          const nextKey = given.has("i") ? next.toLowerCase() : next;
          if (line !== undefined && nextKey === key) {
            times++;
            continue;
          }
          tell();
          line = next;
          key = nextKey;
          times = 1;
        }
      }
      tell();
    });
  },
};
