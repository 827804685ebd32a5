/** `cat`. @module */
import { readOptions } from "./options.ts";
import { forEach, orStdin, type Program } from "./program.ts";

/** Prints files one after another. */
export const cat: Program = {
  usage: "[-ns] [FILE…]",
  async run({ words, input, output }) {
    const given = readOptions(words, { n: false, number: false, s: false });
    const numbered = given.has("n", "number"), squeezed = given.has("s");
    let number = 0, empty = false;
    return await forEach({ name: "cat", output }, orStdin(given.operands), async (name) => {
      if (!numbered && !squeezed) {
        for await (const text of input.texts(name)) output.write(text);
        return;
      }
      for await (const { lines, open } of input.lines(name)) {
        for (const [at, line] of lines.entries()) {
          if (squeezed && line === "" && empty) continue;
          empty = line === "";
          const head = numbered ? `${String(++number).padStart(6)}\t` : "";
          output.write(`${head}${line}${open && at === lines.length - 1 ? "" : "\n"}`);
        }
      }
    });
  },
};
