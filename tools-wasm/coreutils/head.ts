/** `head`. @module */
import { readOptions, wholeNumber } from "./options.ts";
import { utf8Bytes } from "./output.ts";
import { forEach, orStdin, type Program, type Run } from "./program.ts";

/** Prints the first lines, or bytes, of files; with `-N` all but the last N. */
export const head: Program = {
  usage: "[-n [-]LINES | -c [-]BYTES] [-qv] [FILE…]",
  async run({ words, input, output }) {
    const given = readOptions(words, {
      ...{ n: true, lines: "n", c: true, bytes: "c", q: false, v: false },
    }, { digits: true });
    const bytes = given.value("c");
    const count = bytes ?? given.value("n") ?? "10";
    const butLast = count.startsWith("-");
    const max = wholeNumber(butLast ? count.slice(1) : count, "count");
    const names = orStdin(given.operands);
    const titled = given.has("v") || (names.length > 1 && !given.has("q"));
    let titles = 0;
    return await forEach({ name: "head", output }, names, async (name) => {
      const size = butLast && bytes !== undefined ? await input.size(name) : 0;
      const texts = input.texts(name);
      let text = (await texts.next()).value ?? "";
      if (titled) output.write(title(name, titles++));
      if (butLast && bytes === undefined) return await allButLast({ input, output }, name, max);
      let left = butLast ? Math.max(0, size - max) : max;
      while (text !== "" && left > 0) {
        const part = bytes === undefined ? firstLines(text, left) : firstBytes(text, left);
        output.write(part.text);
        left -= part.taken;
        text = left > 0 ? (await texts.next()).value ?? "" : "";
      }
      await texts.return(undefined);
    });
  },
};

/** The line above one of several files; `before`: number of titles already printed. */
export function title(name: string, before: number): string {
  return `${before > 0 ? "\n" : ""}==> ${name === "-" ? "standard input" : name} <==\n`;
}

async function allButLast(
  { input, output }: Pick<Run, "input" | "output">,
  name: string,
  last: number,
): Promise<void> {
  let held: string[] = [];
  for await (const { lines, open } of input.lines(name)) {
    held = held.concat(lines);
    const free = held.splice(0, Math.max(0, held.length - last));
    if (free.length > 0) output.write(free.join("\n") + (open && last === 0 ? "" : "\n"));
  }
}

interface Part {
  readonly text: string;
  readonly taken: number;
}

function firstLines(text: string, max: number): Part {
  let taken = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (++taken === max) return { text: text.slice(0, at + 1), taken };
  }
  return { text, taken };
}

/** Whole characters only: a text cannot end within one. */
function firstBytes(text: string, max: number): Part {
  if (utf8Bytes(text) <= max) return { text, taken: utf8Bytes(text) };
  let kept = "", bytes = 0;
  for (const char of text) {
    bytes += utf8Bytes(char);
    if (bytes > max) break;
    kept += char;
  }
  return { text: kept, taken: max };
}
