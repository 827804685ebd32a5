/** Programs that read text files line by line: cat, cut, replace, tail, uniq, wc. @module */
import { readOptions, wholeNumber } from "./options.ts";
import { forEach, orStdin, type Program } from "./program.ts";
import { FileError, fileError, UsageError } from "./faults.ts";
import { title } from "./head.ts";
import type { Input } from "./input.ts";
import { utf8Bytes } from "./output.ts";
import type { Pattern } from "../../text/pattern.ts";
import { makeExpression, occurrences } from "./expression.ts";

/** Prints files one after another. */
export const cat: Program = {
  usage: "[-ns] [FILE…]",
  async run({ words, input, output }) {
    const given = readOptions(words, {
      ...{ n: false, number: "n", s: false, "squeeze-blank": "s" },
    });
    const numbered = given.has("n"), squeezed = given.has("s");
    // A file without a last line end continues in the first line of the next.
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

/** Joins equal neighbouring lines. */
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
      // A missing file gets no title.
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

async function lastLines(input: Input, name: string, max: number): Promise<string> {
  let kept: string[] = [];
  let end = "\n";
  for await (const { lines, open } of input.lines(name)) {
    kept = max === 0 ? [] : kept.concat(lines).slice(-max);
    if (open) end = "";
  }
  return kept.length === 0 ? "" : kept.join("\n") + end;
}

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

// `replace`: replaces one text by another in files; the changes are staged.

/** Replaces every occurrence within lines; the new text is literal. */
export const replace: Program = {
  usage: "[-Einw] OLD NEW FILE…   (-E: OLD is an extended pattern; -n: only count)",
  async run({ words, input, output, remit }) {
    const given = readOptions(words, { E: false, i: false, n: false, w: false });
    const [old, next, ...names] = given.operands;
    if (old === undefined || next === undefined || names.length === 0) {
      throw new UsageError("give OLD, NEW and files");
    }
    if (old === "" || old.includes("\n")) throw new UsageError("OLD is part of one line");
    const expression = makeExpression([old], {
      kind: given.has("E") ? "extended" : "fixed",
      ignoreCase: given.has("i"),
      as: given.has("w") ? "word" : "part",
    });
    return await forEach({ name: "replace", output }, names, async (name) => {
      if (name === "-") throw new FileError("-: stdin is no file");
      const path = input.place(name);
      // Writing back would damage a file that is not text.
      const text = await input.whole(name);
      if (text.includes("\0") || text.includes("\ufffd")) throw new FileError(`${name}: not text`);
      const { made, changed } = replaced(text, expression, next);
      if (changed > 0 && !given.has("n")) {
        try {
          await remit.fs.write({ path, text: made });
        } catch (error) {
          throw fileError(name, error);
        }
      }
      output.line(`${name}: ${changed}`);
    });
  },
};

function replaced(
  text: string,
  expression: Pattern,
  next: string,
): { readonly made: string; readonly changed: number } {
  let changed = 0;
  const lines = text.split("\n").map((line) => {
    if (!expression.test(line)) return line;
    let made = "", from = 0;
    for (const span of occurrences(expression, line)) {
      if (span.to === span.from) continue;
      made += line.slice(from, span.from) + next;
      from = span.to;
      changed++;
    }
    return made + line.slice(from);
  });
  return { made: lines.join("\n"), changed };
}

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
          const kept = ranges.map(({ min, max }) => parts.slice(min - 1, max));
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
  readonly min: number;
  readonly max: number;
}

/** Ranges in ascending order, without overlap. */
function readList(text: string): readonly Range[] {
  const ranges = text.split(",").map((part) => {
    const [, from = "", dash, to = ""] = /^([0-9]*)(-?)([0-9]*)$/.exec(part) ?? [];
    if (from === "" && to === "") {
      throw new UsageError(`not a list: ${JSON.stringify(text.slice(0, 40))}`);
    }
    const min = from === "" ? 1 : wholeNumber(from, "a list's number", { min: 1 });
    const max = dash === "" ? min : to === "" ? Infinity : wholeNumber(to, "a list's number");
    if (max < min) throw new UsageError("a range is the wrong way round");
    return { min, max };
  });
  const joined: Range[] = [];
  for (const range of ranges.sort((a, b) => a.min - b.min)) {
    const last = joined.at(-1);
    if (last === undefined || range.min > last.max) joined.push(range);
    else {
      joined[joined.length - 1] = { min: last.min, max: Math.max(last.max, range.max) };
    }
  }
  return joined;
}
