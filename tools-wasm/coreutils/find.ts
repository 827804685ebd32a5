/** `find`. @module */
import type { Entry } from "./_remit.ts";
import { FileError, UsageError } from "./faults.ts";
import { makeNameTest } from "./pattern.ts";
import { LEVELS } from "./input.ts";
import { wholeNumber } from "./options.ts";
import { below } from "./place.ts";
import { baseName, forEach, type Program, sorted } from "./program.ts";

interface Found {
  /** As printed. */
  readonly name: string;
  readonly entry: Entry;
}
type Test = (found: Found) => boolean;

/** Lists the entries of folders, recursively, that pass all tests. */
export const find: Program = {
  usage: "[FOLDER…] [-maxdepth N] [-mindepth N] [[!] TEST]… with TEST -name GLOB, -iname GLOB, " +
    "-path GLOB, -type f|d, -size [+-]N[ck], -empty",
  async run({ words, input, output }) {
    const { folders, tests, min, max, empty } = readWords(words);
    return await forEach({ name: "find", output }, folders, async (folder) => {
      const top = input.place(folder);
      // One level more shows whether a folder is empty.
      const wanted = empty ? max + 1 : max;
      const levels = Math.min(LEVELS, Math.max(1, wanted));
      const listing = await input.listing(folder, levels);
      const self: Entry = {
        path: top,
        kind: listing === undefined ? "file" : "folder",
        bytes: listing === undefined ? await input.size(folder) : 0,
      };
      const entries = sorted(listing?.entries ?? []);
      const restOf = ({ path }: Entry): string => path.slice(top.length + 1);
      const levelOf = (entry: Entry): number => restOf(entry).split("/").length;
      const deepest = wanted <= LEVELS
        ? undefined
        : entries.find((entry) => entry.kind === "folder" && levelOf(entry) === LEVELS);
      const full = new Set(entries.map(({ path }) => path.slice(0, path.lastIndexOf("/"))));
      const tell = (found: Found): void => {
        if (tests.every((test) => test({ ...found, entry: emptied(found.entry, full) }))) {
          output.line(/[\n\r]/.test(found.name) ? JSON.stringify(found.name) : found.name);
        }
      };
      if (min === 0) tell({ name: folder, entry: self });
      for (const entry of entries) {
        const level = levelOf(entry);
        if (level < min || level > max) continue;
        // A folder at the last level was not read, so it does not count as empty.
        if (deepest !== undefined && entry.kind === "folder" && level === LEVELS) {
          full.add(entry.path);
        }
        tell({ name: below(folder, restOf(entry)), entry });
      }
      if (deepest !== undefined) {
        throw new FileError(
          `${below(folder, restOf(deepest))}: nothing below ${LEVELS} levels was looked at; ` +
            "begin with this folder",
        );
      }
      if (listing?.cut === true) throw new FileError(`${folder}: not all of it could be read`);
    });
  },
};

/** A non-empty folder counts as such, whatever size is reported. */
function emptied(entry: Entry, full: ReadonlySet<string>): Entry {
  return entry.kind === "file" ? entry : { ...entry, bytes: full.has(entry.path) ? 1 : 0 };
}

function readWords(words: readonly string[]): {
  readonly folders: readonly string[];
  readonly tests: readonly Test[];
  readonly min: number;
  readonly max: number;
  /** Whether a test asks for empty folders. */
  readonly empty: boolean;
} {
  // `--` ends options; find's tests are not options, so folders may follow it.
  const given = words[0] === "--" ? words.slice(1) : words;
  const first = given.findIndex((word) => word === "!" || (word.startsWith("-") && word !== "-"));
  const folders = first < 0 ? given : given.slice(0, first);
  const tests: Test[] = [];
  let min = 0, max = Infinity, not = false;
  const rest = first < 0 ? [] : given.slice(first);
  let empty = false;
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
    if (word === "-maxdepth") max = wholeNumber(value(), word);
    else if (word === "-mindepth") min = wholeNumber(value(), word);
    else {
      const test = readTest(word, value);
      const turned = not;
      empty ||= word === "-empty";
      tests.push((found) => test(found) !== turned);
    }
    not = false;
  }
  return { folders: folders.length === 0 ? ["."] : folders, tests, min, max, empty };
}

function readTest(word: string, value: () => string): Test {
  switch (word) {
    case "-name":
    case "-iname": {
      const test = makeNameTest(value(), word === "-iname");
      return ({ name }) => test(baseName(name.replace(/(?!^)\/+$/, "")));
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
    if (entry.kind === "folder") return false;
    const size = Math.ceil(entry.bytes / unit);
    return parts[1] === "+" ? size > number : parts[1] === "-" ? size < number : size === number;
  };
}
