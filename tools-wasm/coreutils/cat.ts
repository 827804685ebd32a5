/** `cat`. @module */
import { readOptions } from "./options.ts";
import { forEach, orStdin, type Program } from "./program.ts";

/** Prints files one after another. */
export const cat: Program = {
  usage: "[-ns] [FILE…]",
  async run({ words, input, output }) {
    const given = readOptions(words, {
      ...{ n: false, number: "n", s: false, "squeeze-blank": "s" },
    });
    const numbered = given.has("n"), squeezed = given.has("s");
    // A file without a last line end runs on into the first line of the next.
    let number = 0, empty = false, begun = false;
    return await forEach({ name: "cat", output }, orStdin(given.operands), async (name) => {
      if (!numbered && !squeezed) {
        for await (const text of input.texts(name)) output.write(text);
        return;
      }
      for await (const { lines, open } of input.lines(name)) {
        for (const [at, line] of lines.entries()) {
          const blank = line === "" && !begun;
          if (squeezed && blank && empty) continue;
          empty = blank;
          const head = numbered && !begun ? `${String(++number).padStart(6)}\t` : "";
          begun = open && at === lines.length - 1;
          output.write(`${head}${line}${begun ? "" : "\n"}`);
        }
      }
    });
  },
};
