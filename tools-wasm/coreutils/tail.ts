/** `tail`. @module */
import { UsageError } from "./faults.ts";
import { title } from "./head.ts";
import type { Input } from "./input.ts";
import { readOptions, wholeNumber } from "./options.ts";
import { forEach, orStdin, type Program } from "./program.ts";

/** Prints the last lines, or bytes, of files; from the N-th on with `+N`. */
export const tail: Program = {
  usage: "[-n [+]LINES | -c [+]BYTES] [-qv] [FILE…]",
  async run({ words, input, output }) {
    const given = readOptions(words, {
      ...{ n: true, lines: "n", c: true, bytes: "c", q: false, v: false, f: false },
    }, { digits: true });
    if (given.has("f")) throw new UsageError("-f: nothing follows a file here");
    const bytes = given.value("c");
    const count = bytes ?? given.value("n") ?? "10";
    const fromStart = count.startsWith("+");
    const number = wholeNumber(count.replace(/^[+-]/, ""), "count");
    const names = orStdin(given.operands);
    const titled = given.has("v") || (names.length > 1 && !given.has("q"));
    let titles = 0;
    return await forEach({ name: "tail", output }, names, async (name) => {
      // A file that is not there has no title.
      const size = bytes === undefined && !titled ? 0 : await input.size(name);
      if (titled) output.write(title(name, titles++));
      if (bytes !== undefined) {
        const from = fromStart ? Math.max(0, number - 1) : Math.max(0, size - number);
        if (from < size) { for await (const text of input.texts(name, from)) output.write(text); }
      } else if (fromStart) {
        let skip = Math.max(0, number - 1);
        for await (const { lines, open } of input.lines(name)) {
          const kept = lines.slice(skip);
          skip = Math.max(0, skip - lines.length);
          if (kept.length > 0) output.write(kept.join("\n") + (open ? "" : "\n"));
        }
      } else output.write(await lastLines(input, name, number));
    });
  },
};

async function lastLines(input: Input, name: string, most: number): Promise<string> {
  let kept: string[] = [];
  let end = "\n";
  for await (const { lines, open } of input.lines(name)) {
    kept = most === 0 ? [] : kept.concat(lines).slice(-most);
    if (open) end = "";
  }
  return kept.length === 0 ? "" : kept.join("\n") + end;
}
