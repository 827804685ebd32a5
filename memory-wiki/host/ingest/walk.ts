/** Finds the documents of a folder for `wiki ingest`. @module */
import { within } from "../../../launch/disk/places.ts";
import { basename, join } from "node:path";
import { Fault } from "../../../contracts/base/mod.ts";
import type { SourceKind } from "../../../contracts/memory/mod.ts";
import type { DiskRead } from "../../../launch/disk/machine.ts";
import type { Entry, WikiPowers } from "../powers.ts";
import { kindOfName } from "./kinds.ts";

/** A document found. */
export interface Walked {
  /** Real and absolute. */
  readonly path: string;
  /** Relative to the named folder. */
  readonly name: string;
  readonly kind: SourceKind;
  readonly bytes: number;
}

/** A folder that was not entered. `path` is real and absolute, `name` relative to the named folder. */
export type Unseen = Pick<Walked, "path" | "name">;

/** Documents found, and entries left out. */
export interface Walk {
  /** In stable order: by path, folders in place. */
  readonly files: readonly Walked[];
  /** Larger than the limit. */
  readonly large: readonly Walked[];
  readonly skipped: {
    /** By .gitignore and .remitignore. */
    readonly ignored: number;
    readonly hidden: number;
    /** Keys and credentials, on the never-list. */
    readonly never: number;
    readonly links: number;
    /** Pipes, sockets and devices. */
    readonly special: number;
    /** Build output. */
    readonly built: number;
    /** Folders nested deeper than 64 levels. */
    readonly deep: number;
    /** Names that are not UTF-8, which cannot be opened by their decoded form. */
    readonly unnamed: number;
    /** Unknown extensions; `unknownKinds` lists the most frequent first. */
    readonly unknown: number;
  };
  readonly unknownKinds: readonly string[];
  /** Unreadable folders with the reason: their content is unknown. */
  readonly unread: readonly (Unseen & { readonly why: string })[];
  /** Folders nested too deeply. */
  readonly deep: readonly Unseen[];
}

/** Powers of a walk. */
export interface WalkParts {
  readonly disk: Pick<DiskRead, "read">;
  readonly wikis: Pick<WikiPowers, "entries" | "look" | "isNever">;
  /** Folders not to enter: Remit's state, wikis. Real and absolute. */
  readonly apart: readonly string[];
  /** Maximum bytes of a file. */
  readonly most: number;
}

const IGNORE_FILES = [".gitignore", ".remitignore"];
const MAX_IGNORE_BYTES = 1_000_000;
/** Nested folders. */
const MAX_DEPTH = 64;
const MAX_FILES = 500_000;
/** Replaces bytes in a name that are not UTF-8. */
const REPLACEMENT = "\u{fffd}";
/** Names of build output; a folder with a CACHEDIR.TAG counts, too. */
const BUILT: ReadonlySet<string> = new Set([
  ...["node_modules", "bower_components", "__pycache__", "venv", "target", "dist", "build", "out"],
  ...["coverage", "DerivedData"],
]);
/** Generated files. */
const GENERATED: ReadonlySet<string> = new Set(["package-lock.json", "npm-shrinkwrap.json"]);

/** Walks a named folder. Links are not followed. Throws `tooLarge` above 500,000 files. */
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
      if (found?.kind !== "file" || found.bytes > MAX_IGNORE_BYTES) return [];
      const bytes = disk.read(path);
      if (bytes === undefined) return [];
      return [{ depth, rules: readIgnore(new TextDecoder().decode(bytes)) }];
    });

  const take = (path: string, beneath: readonly string[]): void => {
    const name = beneath.at(-1) ?? "";
    const kind = GENERATED.has(name) ? undefined : kindOfName(name);
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
    if (files.length > MAX_FILES) {
      throw new Fault(
        "tooLarge",
        `Cannot take "${root}" in: it holds more than ${MAX_FILES} documents; name folders beneath it`,
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
      if (name.includes(REPLACEMENT) && wikis.look(path) === undefined) {
        skipped.unnamed += 1;
        continue;
      }
      // Counted apart from hidden files, which most of them are, because the person should know.
      if (wikis.isNever(beneath.join("/"))) skipped.never += 1;
      else if (name.startsWith(".")) skipped.hidden += 1;
      else if (kind === "link") skipped.links += 1;
      else if (kind === "folder") {
        const tagged = wikis.look(join(path, "CACHEDIR.TAG"))?.kind === "file";
        if (BUILT.has(name) || tagged) skipped.built += 1;
        else if (isIgnored(own, beneath, true)) skipped.ignored += 1;
        else if (beneath.length < MAX_DEPTH) enter(path, beneath, own);
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

/** Refuses to ingest keys or credentials, even if named explicitly. */
export function neverFault(path: string): Fault {
  return new Fault(
    "refused",
    `Cannot take "${basename(path)}" in: keys and credentials never become memory`,
  );
}

// A bounded-time matcher for .gitignore, since the rules come with untrusted folders.

interface IgnoreRule {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  /** Whether it matches a path relative to the folder of its file, given as segments. */
  fits(parts: readonly string[]): boolean;
}

const MAX_RULES = 10_000;
const MAX_PATTERN = 1_024;

/** Parses an ignore file. As in git, an invalid line is skipped; so is one longer than 1,024 characters. */
export function readIgnore(text: string): readonly IgnoreRule[] {
  const rules: IgnoreRule[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (rules.length >= MAX_RULES) break;
    const rule = readRule(line);
    if (rule !== undefined) rules.push(rule);
  }
  return rules;
}

function readRule(line: string): IgnoreRule | undefined {
  if (line === "" || line.startsWith("#") || line.length > MAX_PATTERN) return undefined;
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

/** Trailing spaces count only if escaped. A loop: a regular expression is quadratic on a line of tabs. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") end -= 1;
  let slashes = 0;
  while (line[end - 1 - slashes] === "\\") slashes += 1;
  return line.slice(0, end + slashes % 2);
}

type Piece = "star" | ((character: string) => boolean);
type Part = readonly Piece[] | typeof ANY;
const ANY = Symbol("**");

/** Pieces of one segment; undefined for an unclosed class. */
function compilePart(text: string): readonly Piece[] | undefined {
  const characters = [...text];
  const pieces: Piece[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? "";
    if (character === "*") {
      if (pieces.at(-1) !== "star") pieces.push("star");
    } else if (character === "?") pieces.push(() => true);
    else if (character === "[") {
      const read = readClass(characters, at);
      if (read === undefined) return undefined;
      pieces.push(read.piece);
      at = read.end;
    } else {
      const plain = character === "\\" ? characters[++at] : character;
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

/** `[a-z]`, `[!x]`, `[^x]`, `[[:digit:]]`; `end` is the index of the closing `]`. */
function readClass(
  characters: readonly string[],
  start: number,
): { readonly piece: (character: string) => boolean; readonly end: number } | undefined {
  let at = start + 1;
  const negated = characters[at] === "!" || characters[at] === "^";
  if (negated) at += 1;
  const tests: ((character: string) => boolean)[] = [];
  for (let first = true; at < characters.length; first = false, at++) {
    if (characters[at] === "]" && !first) {
      return { piece: (character) => tests.some((test) => test(character)) !== negated, end: at };
    }
    if (characters[at] === "[" && characters[at + 1] === ":") {
      const close = characters.indexOf("]", at + 2);
      const name = characters.slice(at + 2, close - 1).join("");
      const named = characters[close - 1] === ":" && Object.hasOwn(NAMED, name)
        ? NAMED[name]
        : undefined;
      if (named === undefined) return undefined;
      tests.push((character) => named.test(character));
      at = close;
      continue;
    }
    if (characters[at] === "\\") at += 1;
    const from = characters[at] ?? "";
    if (
      characters[at + 1] === "-" && characters[at + 2] !== "]" && characters[at + 2] !== undefined
    ) {
      const to = characters[at + 2] === "\\"
        ? characters[at += 3] ?? ""
        : characters[at += 2] ?? "";
      tests.push((character) => character >= from && character <= to);
    } else tests.push((character) => character === from);
  }
  return undefined;
}

/** Greedy with one backtracking point: only the last star is ever reconsidered. */
function fitsPart(pieces: readonly Piece[], text: string): boolean {
  const characters = [...text];
  let piece = 0, at = 0, backPiece = -1, backAt = 0;
  while (at < characters.length) {
    const want = pieces[piece];
    if (want === "star") {
      backPiece = ++piece;
      backAt = at;
    } else if (want?.(characters[at] ?? "") === true) {
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
    // `a/**` matches what is in `a`, but not `a` itself.
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

/** The rules of a folder, and the number of segments that lead to it. */
interface IgnoreLayer {
  readonly depth: number;
  readonly rules: readonly IgnoreRule[];
}

/**
 * Whether ignore rules exclude a path: the last matching rule decides, deeper folders last. The caller does
 * not enter excluded folders, so ancestors are not checked.
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
