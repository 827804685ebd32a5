/** `wc`. @module */
import { readOptions } from "./options.ts";
import { utf8Bytes } from "./output.ts";
import { forEach, orStdin, type Program } from "./program.ts";

interface Counts {
  lines: number;
  words: number;
  chars: number;
  bytes: number;
}

/** Counts lines, words, characters and bytes. */
export const wc: Program = {
  usage: "[-lwmc] [FILE…]",
  async run({ words, input, output }) {
    const given = readOptions(words, {
      ...{ l: false, w: false, m: false, c: false },
      ...{ lines: "l", words: "w", chars: "m", bytes: "c" },
    });
    const all = !given.has("l", "w", "m", "c");
    const wanted = [
      ...(all || given.has("l") ? ["lines"] as const : []),
      ...(all || given.has("w") ? ["words"] as const : []),
      ...(given.has("m") ? ["chars"] as const : []),
      ...(all || given.has("c") ? ["bytes"] as const : []),
    ];
    const names = orStdin(given.operands);
    const sum: Counts = { lines: 0, words: 0, chars: 0, bytes: 0 };
    const wide = names.length === 1 && wanted.length === 1 ? 0 : 7;
    const tell = (counts: Counts, name: string): void => {
      const numbers = wanted.map((what) => String(counts[what]).padStart(wide)).join(" ");
      output.line(name === "" ? numbers : `${numbers} ${name}`);
    };
    const exit = await forEach({ name: "wc", output }, names, async (name) => {
      const counts: Counts = { lines: 0, words: 0, chars: 0, bytes: 0 };
      let inWord = false;
      const onlySize = wanted.length === 1 && wanted[0] === "bytes";
      if (onlySize) counts.bytes = await input.size(name);
      else {
        for await (const text of input.texts(name)) {
          for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
            counts.lines++;
          }
          if (wanted.includes("words")) inWord = countWords(text, inWord, counts);
          if (wanted.includes("chars")) { for (const _ of text) counts.chars++; }
          if (wanted.includes("bytes") && name === "-") counts.bytes += utf8Bytes(text);
        }
        if (wanted.includes("bytes") && name !== "-") counts.bytes = await input.size(name);
      }
      for (const what of ["lines", "words", "chars", "bytes"] as const) sum[what] += counts[what];
      tell(counts, name === "-" && given.operands.length === 0 ? "" : name);
    });
    if (names.length > 1) tell(sum, "total");
    return exit;
  },
};

/** Whether the text ends within a word. */
function countWords(text: string, inWord: boolean, counts: Counts): boolean {
  counts.words += text.match(/[^\t-\r ]+/g)?.length ?? 0;
  if (inWord && /^[^\t-\r ]/.test(text)) counts.words--;
  return text === "" ? inWord : /[^\t-\r ]$/.test(text);
}
