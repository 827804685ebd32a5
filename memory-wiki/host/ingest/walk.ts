/** The documents of a folder, as `wiki ingest` finds them. @module */
import { within } from "../../../launch/disk/places.ts";
import { basename, join } from "node:path";
import { Fault } from "../../../contracts/base/mod.ts";
import type { SourceKind } from "../../../contracts/memory/mod.ts";
import type { DiskRead } from "../../../launch/disk/machine.ts";
import type { Entry, WikiPowers } from "../powers.ts";
import { kindOfName } from "./kinds.ts";

/** A document that was found. */
export interface Walked {
  /** Real and absolute. */
  readonly path: string;
  /** Beneath the folder that was named. */
  readonly name: string;
  readonly kind: SourceKind;
  readonly bytes: number;
}

/** A folder that was not looked into. `path` is real and absolute, `name` is beneath the folder that was named. */
export type Unseen = Pick<Walked, "path" | "name">;

/** What was found, and what was not taken. */
export interface Walk {
  /** In stable order: by path, folders where they stand. */
  readonly files: readonly Walked[];
  /** Larger than the limit. */
  readonly large: readonly Walked[];
  readonly skipped: {
    /** By rules of .gitignore and .remitignore. */
    readonly ignored: number;
    readonly hidden: number;
    /** Keys and credentials: never taken. */
    readonly never: number;
    readonly links: number;
    /** Pipes, sockets and devices. */
    readonly special: number;
    /** Folders that builds make. */
    readonly built: number;
    /** Folders beneath 64 others. */
    readonly deep: number;
    /** Names that are not UTF-8: nothing can be opened by what is read of them. */
    readonly unnamed: number;
    /** By their extensions, the most frequent first. */
    readonly unknown: number;
  };
  readonly unknownKinds: readonly string[];
  /** Folders that could not be read, and why: what lies in them is not known. */
  readonly unread: readonly (Unseen & { readonly why: string })[];
  /** Folders that lie too deep to be entered. */
  readonly deep: readonly Unseen[];
}

/** What a walk is handed. */
export interface WalkParts {
  readonly disk: Pick<DiskRead, "read">;
  readonly wikis: Pick<WikiPowers, "entries" | "look" | "isNever">;
  /** Folders that are not entered: Remit's state, wikis. Real and absolute. */
  readonly apart: readonly string[];
  /** Bytes of a file, at most. */
  readonly most: number;
}

const IGNORE_FILES = [".gitignore", ".remitignore"];
const IGNORE_BYTES = 1_000_000;
/** Folders in each other beneath the one that was named. */
const DEPTH = 64;
const FILES = 500_000;
/** Stands in a name for bytes that are not UTF-8. */
const NO_CHARACTER = "\u{fffd}";
/** What builds and package tools leave, by name; also any folder with a CACHEDIR.TAG. */
const BUILT: ReadonlySet<string> = new Set([
  ...["node_modules", "bower_components", "__pycache__", "venv", "target", "dist", "build", "out"],
  ...["coverage", "DerivedData"],
]);
/** Long lists that programs keep for themselves. */
const MADE: ReadonlySet<string> = new Set(["package-lock.json", "npm-shrinkwrap.json"]);

/** Walks a folder that was named. Links are not followed. Throws `tooLarge` above 500,000 files. */
export function walkFolder(parts: WalkParts, root: string): Walk {
  const { disk, wikis } = parts;
  const files: Walked[] = [];
  const large: Walked[] = [];
  const skipped = {
    ...{ ignored: 0, hidden: 0, never: 0, links: 0, special: 0, built: 0, unknown: 0, unnamed: 0 },
  };
  const unknown = new Map<string, number>();
  const unread: (Unseen & { readonly why: string })[] = [];
  const deep: Unseen[] = [];

  const rulesOf = (folder: string, depth: number): readonly IgnoreLayer[] =>
    IGNORE_FILES.flatMap((name) => {
      const path = join(folder, name);
      const found = wikis.look(path);
      if (found?.kind !== "file" || found.bytes > IGNORE_BYTES) return [];
      const bytes = disk.read(path);
      if (bytes === undefined) return [];
      return [{ depth, rules: readIgnore(new TextDecoder().decode(bytes)) }];
    });

  const take = (path: string, beneath: readonly string[]): void => {
    const name = beneath.at(-1) ?? "";
    const kind = MADE.has(name) ? undefined : kindOfName(name);
    if (kind === undefined) {
      skipped.unknown += 1;
      const dot = name.lastIndexOf(".");
      const extension = dot <= 0 ? "no extension" : name.slice(dot).toLowerCase();
      unknown.set(extension, (unknown.get(extension) ?? 0) + 1);
      return;
    }
    const bytes = wikis.look(path)?.bytes ?? 0;
    const found = { path, name: beneath.join("/"), kind, bytes };
    (bytes > parts.most ? large : files).push(found);
    if (files.length > FILES) {
      throw new Fault(
        "tooLarge",
        `Cannot take "${root}" in: it holds more than ${FILES} documents; name folders beneath it`,
      );
    }
  };

  const listed = (folder: string, above: readonly string[]): readonly Entry[] => {
    const found = wikis.entries(folder);
    if (typeof found !== "string") return found;
    unread.push({ path: folder, name: above.join("/") || basename(folder), why: found });
    return [];
  };

  const enter = (
    folder: string,
    above: readonly string[],
    layers: readonly IgnoreLayer[],
  ): void => {
    const own = [...layers, ...rulesOf(folder, above.length)];
    for (const { name, kind } of listed(folder, above)) {
      const path = join(folder, name);
      const beneath = [...above, name];
      if (parts.apart.some((each) => within(path, each))) continue;
      if (name.includes(NO_CHARACTER) && wikis.look(path) === undefined) {
        skipped.unnamed += 1;
        continue;
      }
      // Told apart from hidden ones, which most of them are: the person shall hear of it.
      if (wikis.isNever(beneath.join("/"))) skipped.never += 1;
      else if (name.startsWith(".")) skipped.hidden += 1;
      else if (kind === "link") skipped.links += 1;
      else if (kind === "folder") {
        const tagged = wikis.look(join(path, "CACHEDIR.TAG"))?.kind === "file";
        if (BUILT.has(name) || tagged) skipped.built += 1;
        else if (isIgnored(own, beneath, true)) skipped.ignored += 1;
        else if (beneath.length < DEPTH) enter(path, beneath, own);
        else deep.push({ path, name: beneath.join("/") });
      } else if (kind === "file") {
        if (isIgnored(own, beneath, false)) skipped.ignored += 1;
        else take(path, beneath);
      } else skipped.special += 1;
    }
  };

  if (wikis.isNever(root)) throw neverFault(root);
  enter(root, [], []);
  const unknownKinds = [...unknown].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .map(([name]) => name);
  return { files, large, skipped: { ...skipped, deep: deep.length }, unknownKinds, unread, deep };
}

/** A refusal to take in keys or credentials, named by hand or not. */
export function neverFault(path: string): Fault {
  return new Fault(
    "refused",
    `Cannot take "${basename(path)}" in: keys and credentials never become memory`,
  );
}

// The grammar of .gitignore, read and matched in bounded time: rules come with folders that are
// not ours.

/** One rule, compiled. */
interface IgnoreRule {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  /** Whether it fits a path beneath the folder of its file, given as parts. */
  fits(parts: readonly string[]): boolean;
}

const RULES = 10_000;
const PATTERN = 1_024;

/** Reads a file of rules. What does not parse, or is longer than 1,024 characters, is no rule, as with git. */
export function readIgnore(text: string): readonly IgnoreRule[] {
  const rules: IgnoreRule[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (rules.length >= RULES) break;
    const rule = readRule(line);
    if (rule !== undefined) rules.push(rule);
  }
  return rules;
}

function readRule(line: string): IgnoreRule | undefined {
  if (line === "" || line.startsWith("#") || line.length > PATTERN) return undefined;
  let pattern = withoutTrailingSpaces(line);
  const negated = pattern.startsWith("!");
  if (negated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  if (pattern === "" || pattern === "/") return undefined;
  const anchored = pattern.includes("/");
  const parts = pattern.replace(/^\//, "").split("/");
  const compiled = (anchored ? parts : ["**", ...parts]).map((part) =>
    part === "**" ? ANY : compilePart(part)
  );
  if (compiled.some((part) => part === undefined)) return undefined;
  const whole = compiled.filter((part) => part !== undefined);
  return { negated, foldersOnly, fits: (path) => fitsParts(whole, path) };
}

/** Trailing spaces count only when they are escaped. Counted by hand: a pattern for it takes for ever on a line of tabs. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") end -= 1;
  let slashes = 0;
  while (line[end - 1 - slashes] === "\\") slashes += 1;
  return line.slice(0, end + slashes % 2);
}

type Piece = "star" | ((letter: string) => boolean);
type Part = readonly Piece[] | typeof ANY;
const ANY = Symbol("**");

/** Pieces of one part of a pattern; undefined for a class that is not closed. */
function compilePart(text: string): readonly Piece[] | undefined {
  const letters = [...text];
  const pieces: Piece[] = [];
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? "";
    if (letter === "*") {
      if (pieces.at(-1) !== "star") pieces.push("star");
    } else if (letter === "?") pieces.push(() => true);
    else if (letter === "[") {
      const read = readClass(letters, at);
      if (read === undefined) return undefined;
      pieces.push(read.piece);
      at = read.end;
    } else {
      const plain = letter === "\\" ? letters[++at] : letter;
      if (plain === undefined) return undefined;
      pieces.push((other) => other === plain);
    }
  }
  return pieces;
}

const NAMED: Readonly<Record<string, RegExp>> = {
  alpha: /[A-Za-z]/,
  digit: /[0-9]/,
  alnum: /[A-Za-z0-9]/,
  upper: /[A-Z]/,
  lower: /[a-z]/,
  space: /\s/,
  punct: /[!-/:-@[-`{-~]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** `[a-z]`, `[!x]`, `[^x]`, `[[:digit:]]`; `end` is where its `]` stands. */
function readClass(
  letters: readonly string[],
  start: number,
): { readonly piece: (letter: string) => boolean; readonly end: number } | undefined {
  let at = start + 1;
  const negated = letters[at] === "!" || letters[at] === "^";
  if (negated) at += 1;
  const tests: ((letter: string) => boolean)[] = [];
  for (let first = true; at < letters.length; first = false, at++) {
    if (letters[at] === "]" && !first) {
      return { piece: (letter) => tests.some((test) => test(letter)) !== negated, end: at };
    }
    if (letters[at] === "[" && letters[at + 1] === ":") {
      const close = letters.indexOf("]", at + 2);
      const name = letters.slice(at + 2, close - 1).join("");
      const named = letters[close - 1] === ":" && Object.hasOwn(NAMED, name)
        ? NAMED[name]
        : undefined;
      if (named === undefined) return undefined;
      tests.push((letter) => named.test(letter));
      at = close;
      continue;
    }
    if (letters[at] === "\\") at += 1;
    const from = letters[at] ?? "";
    if (letters[at + 1] === "-" && letters[at + 2] !== "]" && letters[at + 2] !== undefined) {
      const to = letters[at + 2] === "\\" ? letters[at += 3] ?? "" : letters[at += 2] ?? "";
      tests.push((letter) => letter >= from && letter <= to);
    } else tests.push((letter) => letter === from);
  }
  return undefined;
}

/** Greedy, with one point of return: the last star alone is ever reconsidered. */
function fitsPart(pieces: readonly Piece[], text: string): boolean {
  const letters = [...text];
  let piece = 0, at = 0, backPiece = -1, backAt = 0;
  while (at < letters.length) {
    const want = pieces[piece];
    if (want === "star") {
      backPiece = ++piece;
      backAt = at;
    } else if (want?.(letters[at] ?? "") === true) {
      piece += 1;
      at += 1;
    } else if (backPiece >= 0) {
      piece = backPiece;
      at = ++backAt;
    } else return false;
  }
  while (pieces[piece] === "star") piece += 1;
  return piece === pieces.length;
}

function fitsParts(pattern: readonly Part[], path: readonly string[]): boolean {
  let part = 0, at = 0, backPart = -1, backAt = 0;
  while (at < path.length) {
    const want = pattern[part];
    // `a/**` is what lies in it, and not `a` itself.
    if (want === ANY && part === pattern.length - 1) return true;
    if (want === ANY) {
      backPart = ++part;
      backAt = at;
    } else if (want !== undefined && fitsPart(want, path[at] ?? "")) {
      part += 1;
      at += 1;
    } else if (backPart >= 0) {
      part = backPart;
      at = ++backAt;
    } else return false;
  }
  return part === pattern.length;
}

/** Rules of one folder, and how many parts of a path lead to it. */
interface IgnoreLayer {
  readonly depth: number;
  readonly rules: readonly IgnoreRule[];
}

/**
 * Whether rules of a path's folders leave it out: the last rule that fits decides, and a deeper folder's come later.
 * Whether a folder above it is left out is for the caller, who does not enter it.
 */
export function isIgnored(
  layers: readonly IgnoreLayer[],
  parts: readonly string[],
  folder: boolean,
): boolean {
  for (const { depth, rules } of layers.toReversed()) {
    const beneath = parts.slice(depth);
    const last = rules.findLast((rule) => (folder || !rule.foldersOnly) && rule.fits(beneath));
    if (last !== undefined) return !last.negated;
  }
  return false;
}
