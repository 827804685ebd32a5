/** `grep`. @module */
import type { Pattern } from "../../text/pattern.ts";
import { makeExpression, occurrences } from "./expression.ts";
import { FileError, UsageError } from "./faults.ts";
import { LEVELS } from "./input.ts";
import { type Given, readOptions, wholeNumber } from "./options.ts";
import { makeNameTest } from "./pattern.ts";
import { baseName, type Program, type Run, sorted } from "./program.ts";
import { below } from "./place.ts";

/** Prints lines that match a pattern. */
export const grep: Program = {
  usage: "[-EFivnclLorwxqhHs] [-m N] [-A N] [-B N] [-C N] [--include GLOB] [--exclude GLOB] " +
    "[--exclude-dir GLOB] (PATTERN | -e PATTERN…) [FILE…]",
  async run(run) {
    const given = readOptions(run.words, OPTIONS);
    if (given.has("P")) throw new UsageError("-P: use -E; there are no Perl patterns here");
    const [first, ...others] = given.operands;
    const patterns = given.values("e");
    if (patterns.length === 0 && first === undefined) throw new UsageError("no pattern");
    const names = patterns.length > 0 ? given.operands : others;
    const expression = makeExpression(patterns.length > 0 ? patterns : [first ?? ""], {
      kind: given.has("F") ? "fixed" : given.has("E") ? "extended" : "basic",
      ignoreCase: given.has("i"),
      as: given.has("x") ? "line" : given.has("w") ? "word" : "part",
    });
    const deep = given.has("r", "R");
    const form = readForm(given, given.has("H") || (!given.has("h") && (deep || names.length > 1)));
    let trouble = false, found = false;
    const targets = names.length > 0 ? names : [deep ? "." : "-"];
    for (const target of targets) {
      try {
        for await (const name of filesOf(run, given, { target, deep })) {
          found = await search(run, { expression, form, name }) || found;
          if (found && form.quiet) return 0;
        }
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        if (!given.has("s")) run.output.error(`grep: ${error.message}`);
        trouble = true;
      }
    }
    return trouble ? 2 : found ? 0 : 1;
  },
};

const OPTIONS = {
  ...{ E: false, F: false, G: false, P: false, i: false, v: false, n: false, c: false },
  ...{ l: false, L: false, o: false, r: false, R: false, w: false, x: false, q: false },
  ...{ h: false, H: false, s: false, e: true, m: true, A: true, B: true, C: true },
  ...{ include: true, exclude: true, "exclude-dir": true },
  ...{ "extended-regexp": "E", "fixed-strings": "F", "basic-regexp": "G", "perl-regexp": "P" },
  ...{ "ignore-case": "i", "invert-match": "v", "line-number": "n", count: "c", regexp: "e" },
  ...{ "files-with-matches": "l", "files-without-match": "L", "only-matching": "o" },
  ...{ recursive: "r", "dereference-recursive": "R", "word-regexp": "w", "line-regexp": "x" },
  ...{ quiet: "q", silent: "q", "no-filename": "h", "with-filename": "H", "no-messages": "s" },
  ...{ "max-count": "m", "after-context": "A", "before-context": "B", context: "C" },
};

interface Form {
  readonly named: boolean;
  readonly numbered: boolean;
  readonly inverted: boolean;
  readonly only: boolean;
  readonly quiet: boolean;
  readonly tell: "lines" | "count" | "with" | "without";
  readonly most: number;
  readonly above: number;
  readonly under: number;
  /** Whether lines of dashes stand between groups: where any context was asked for, also none. */
  readonly parted: boolean;
}

function readForm(given: Given, named: boolean): Form {
  const count = (name: string): number | undefined => {
    const text = given.value(name);
    return text === undefined ? undefined : wholeNumber(text, `-${name}`);
  };
  const context = count("C") ?? 0;
  return {
    named,
    numbered: given.has("n"),
    inverted: given.has("v"),
    only: given.has("o"),
    quiet: given.has("q"),
    tell: given.has("l") ? "with" : given.has("L") ? "without" : given.has("c") ? "count" : "lines",
    most: count("m") ?? Infinity,
    above: count("B") ?? context,
    under: count("A") ?? context,
    parted: given.has("A", "B", "C"),
  };
}

async function* filesOf(
  { input }: Pick<Run, "input">,
  given: Given,
  { target, deep }: { readonly target: string; readonly deep: boolean },
): AsyncGenerator<string> {
  const listing = deep && target !== "-" ? await input.listing(target, LEVELS) : undefined;
  if (listing === undefined) {
    yield target;
    return;
  }
  const tests = (name: string): readonly ((name: string) => boolean)[] =>
    given.values(name).map((glob) => makeNameTest(glob, false));
  const include = tests("include"), exclude = tests("exclude"), closed = tests("exclude-dir");
  const top = input.place(target);
  for (const { path, kind } of sorted(listing.entries)) {
    const name = baseName(path);
    if (kind !== "file" || exclude.some((test) => test(name))) continue;
    if (include.length > 0 && !include.some((test) => test(name))) continue;
    const rest = top === "" ? path : path.slice(top.length + 1);
    if (rest.split("/").slice(0, -1).some((part) => closed.some((test) => test(part)))) continue;
    yield target === "." && given.operands.length < 2 ? rest : below(target, rest);
  }
  const levels = (path: string): number => path.slice(top.length + 1).split("/").length;
  if (listing.entries.some(({ kind, path }) => kind === "folder" && levels(path) === LEVELS)) {
    throw new FileError(`${target}: nothing below ${LEVELS} levels was looked at`);
  }
  if (listing.cut === true) throw new FileError(`${target}: not all of it could be read`);
}

async function search(
  { input, output }: Pick<Run, "input" | "output">,
  { expression, form, name }: {
    readonly expression: Pattern;
    readonly form: Form;
    readonly name: string;
  },
): Promise<boolean> {
  const shown = name === "-" ? "(standard input)" : name;
  const head = (number: number, sign: string): string =>
    (form.named ? shown + sign : "") + (form.numbered ? `${number}${sign}` : "");
  const printing = form.tell === "lines" && !form.quiet;
  const kept: string[] = [];
  let number = 0, hits = 0, after = 0, printed = 0, binary = false;

  search: for await (const { lines } of input.lines(name)) {
    for (const line of lines) {
      number++;
      binary ||= line.includes("\0");
      if (hits >= form.most && after <= 0) break search;
      const hit = hits < form.most && expression.test(line) !== form.inverted;
      if (!hit) {
        if (printing && after-- > 0) {
          if (!form.only) output.line(head(number, "-") + line);
          printed = number;
        } else if (form.above > 0) {
          kept.push(line);
          if (kept.length > form.above) kept.shift();
        }
        continue;
      }
      hits++;
      if (form.quiet || form.tell === "with" || form.tell === "without") break search;
      if (!printing || binary) continue;
      if (form.only && form.inverted) continue;
      const first = number - kept.length;
      if (form.parted && printed > 0 && first > printed + 1) output.line("--");
      if (form.only) {
        for (const { from, to } of occurrences(expression, line)) {
          if (to > from) output.line(head(number, ":") + line.slice(from, to));
        }
      } else {
        for (const [at, earlier] of kept.entries()) output.line(head(first + at, "-") + earlier);
        output.line(head(number, ":") + line);
      }
      kept.length = 0;
      printed = number;
      after = form.under;
    }
  }
  if (binary && hits > 0 && printing) output.line(`grep: ${shown}: binary file matches`);
  if (form.tell === "count" && !form.quiet) output.line((form.named ? `${shown}:` : "") + hits);
  if (form.tell === "with" && hits > 0 && !form.quiet) output.line(shown);
  if (form.tell === "without" && hits === 0 && !form.quiet) output.line(shown);
  return hits > 0;
}
