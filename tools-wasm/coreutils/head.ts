/** `head`. @module */
import { readOptions, wholeNumber } from "./options.ts";
import { utf8Bytes } from "./output.ts";
import { forEach, orStdin, type Program } from "./program.ts";

/** Prints the first lines, or bytes, of files. */
export const head: Program = {
  usage: "[-n LINES | -c BYTES] [-qv] [FILE…]",
  async run({ words, input, output }) {
    const given = readOptions(words, {
      ...{ n: true, lines: true, c: true, bytes: true, q: false, v: false },
    }, { digits: true });
    const bytes = given.value("c") ?? given.value("bytes");
    const count = given.value("n") ?? given.value("lines") ?? "10";
    const most = wholeNumber(bytes ?? count, "count");
    const names = orStdin(given.operands);
    const titled = given.has("v") || (names.length > 1 && !given.has("q"));
    return await forEach({ name: "head", output }, names, async (name, index) => {
      let left = most;
      const texts = input.texts(name);
      let text = (await texts.next()).value ?? "";
      if (titled) output.write(title(name, index));
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

/** The line above a file's part when there are several. */
export function title(name: string, index: number): string {
  return `${index > 0 ? "\n" : ""}==> ${name === "-" ? "standard input" : name} <==\n`;
}

interface Part {
  readonly text: string;
  readonly taken: number;
}

function firstLines(text: string, most: number): Part {
  let taken = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (++taken === most) return { text: text.slice(0, at + 1), taken };
  }
  return { text, taken };
}

/** Whole characters only: a text cannot end within one. */
function firstBytes(text: string, most: number): Part {
  if (utf8Bytes(text) <= most) return { text, taken: utf8Bytes(text) };
  let kept = "", bytes = 0;
  for (const char of text) {
    bytes += utf8Bytes(char);
    if (bytes > most) break;
    kept += char;
  }
  return { text: kept, taken: most };
}
