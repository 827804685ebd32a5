/** `find`. @module */
import type { Entry } from "./_remit.ts";
import { UsageError } from "./faults.ts";
import { makeNameTest } from "./glob.ts";
import { wholeNumber } from "./options.ts";
import { below } from "./place.ts";
import { baseName, forEach, type Program, sorted } from "./program.ts";

interface Found {
  /** As it is printed. */
  readonly name: string;
  readonly entry: Entry;
}
type Test = (found: Found) => boolean;

/** Lists what lies in folders, deep, and passes all tests. */
export const find: Program = {
  usage: "[FOLDER…] [-maxdepth N] [-mindepth N] [[!] TEST]… with TEST -name GLOB, -iname GLOB, " +
    "-path GLOB, -type f|d, -size [+-]N[ck], -empty",
  async run({ words, input, output }) {
    const { folders, tests, least, most, filled } = readWords(words);
    return await forEach({ name: "find", output }, folders, async (folder) => {
      const top = input.place(folder);
      // Whether a folder is empty is seen a level below it.
      const entries = await input.entries(folder, Math.max(1, filled ? most + 1 : most));
      const self: Entry = {
        path: top,
        kind: entries === undefined ? "file" : "folder",
        bytes: entries === undefined ? await input.size(folder) : 0,
      };
      const full = new Set(entries?.map(({ path }) => path.slice(0, path.lastIndexOf("/"))) ?? []);
      const tell = (found: Found): void => {
        if (tests.every((test) => test({ ...found, entry: emptied(found.entry, full) }))) {
          output.line(/[\n\r]/.test(found.name) ? JSON.stringify(found.name) : found.name);
        }
      };
      if (least === 0) tell({ name: folder, entry: self });
      for (const entry of most === 0 ? [] : sorted(entries ?? [])) {
        const rest = top === "" ? entry.path : entry.path.slice(top.length + 1);
        const level = rest.split("/").length;
        if (level < least || level > most) continue;
        tell({ name: below(folder, rest), entry });
      }
    });
  },
};

/** A folder that holds something counts as not empty, whatever its size is told as. */
function emptied(entry: Entry, full: ReadonlySet<string>): Entry {
  return entry.kind === "file" ? entry : { ...entry, bytes: full.has(entry.path) ? 1 : 0 };
}

function readWords(words: readonly string[]): {
  readonly folders: readonly string[];
  readonly tests: readonly Test[];
  readonly least: number;
  readonly most: number;
  /** Whether it is asked what holds nothing. */
  readonly filled: boolean;
} {
  // `--` ends options; the tests of find are no options, so that folders may follow it.
  const given = words[0] === "--" ? words.slice(1) : words;
  const first = given.findIndex((word) => word === "!" || (word.startsWith("-") && word !== "-"));
  const folders = first < 0 ? given : given.slice(0, first);
  const tests: Test[] = [];
  let least = 0, most = Infinity, not = false;
  const rest = first < 0 ? [] : given.slice(first);
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    const value = (): string => {
      const next = rest[++at];
      if (next === undefined) throw new UsageError(`${word} needs a value`);
      return next;
    };
    if (word === "-print") continue;
    if (word === "!" || word === "-not") {
      not = !not;
      continue;
    }
    if (word === "-maxdepth") most = wholeNumber(value(), word);
    else if (word === "-mindepth") least = wholeNumber(value(), word);
    else {
      const test = readTest(word, value);
      const turned = not;
      tests.push((found) => test(found) !== turned);
    }
    not = false;
  }
  const filled = rest.includes("-empty");
  return { folders: folders.length === 0 ? ["."] : folders, tests, least, most, filled };
}

function readTest(word: string, value: () => string): Test {
  switch (word) {
    case "-name":
    case "-iname": {
      const test = makeNameTest(value(), word === "-iname");
      return ({ entry, name }) => test(baseName(entry.path === "" ? name : entry.path));
    }
    case "-path":
    case "-ipath": {
      const test = makeNameTest(value(), word === "-ipath");
      return ({ name }) => test(name);
    }
    case "-type": {
      const kind = value();
      if (kind !== "f" && kind !== "d") throw new UsageError("-type takes f or d");
      return ({ entry }) => entry.kind === (kind === "f" ? "file" : "folder");
    }
    case "-empty":
      return ({ entry }) => entry.bytes === 0;
    case "-size":
      return sizeTest(value());
    default:
      throw new UsageError(`unknown test ${JSON.stringify(word.slice(0, 40))}`);
  }
}

function sizeTest(text: string): Test {
  const parts = /^([+-]?)([0-9]{1,12})([ckM]?)$/.exec(text);
  if (parts === null) {
    throw new UsageError(`-size ${JSON.stringify(text.slice(0, 40))}: not a size`);
  }
  const unit = { c: 1, k: 1024, M: 1024 * 1024 }[parts[3] ?? ""] ?? 512;
  const number = Number(parts[2]);
  return ({ entry }) => {
    const size = Math.ceil(entry.bytes / unit);
    if (entry.kind === "folder") return false;
    return parts[1] === "+" ? size > number : parts[1] === "-" ? size < number : size === number;
  };
}
