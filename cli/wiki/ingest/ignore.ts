/** The grammar of .gitignore, read and matched in bounded time: rules come with folders that are not ours. @module */

/** One rule, compiled. */
export interface IgnoreRule {
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
export interface IgnoreLayer {
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
