/**
 * Globs over paths, matched in time linear in the pattern for each part: `*` and `?` within a
 * part, `**` across parts. A glob without `/` matches a part of that name at any depth.
 * @module
 */

/** A set of globs, compiled. */
export interface Globs {
  /** False when no glob has a `/`: names alone decide. */
  readonly hasPaths: boolean;
  /** Tells whether this path itself, taken as its parts, matches. */
  matches(parts: readonly string[]): boolean;
  /** Tells whether this path or a folder above it matches. */
  covers(parts: readonly string[]): boolean;
}

// deno-lint-ignore no-control-regex -- ASCII is what it asks for
const ASCII = /^[\u0000-\u007f]*$/;

function fold(text: string, anyCase: boolean): string {
  if (!anyCase) return text;
  return (ASCII.test(text) ? text : text.normalize("NFKC")).toLowerCase();
}

/** Greedy with one point of return, so that no pattern takes exponential time. */
function wild<T>(
  pattern: readonly T[],
  subject: readonly T[],
  star: T,
  one: (p: T, s: T) => boolean,
): boolean {
  let p = 0, s = 0, backP = -1, backS = 0;
  while (s < subject.length) {
    const want = pattern[p], have = subject[s];
    if (p < pattern.length && want === star) {
      backP = p++;
      backS = s;
    } else if (
      p < pattern.length && want !== undefined && have !== undefined && one(want, have)
    ) {
      p++;
      s++;
    } else if (backP >= 0) {
      p = backP + 1;
      s = ++backS;
    } else return false;
  }
  while (p < pattern.length && pattern[p] === star) p++;
  return p === pattern.length;
}

function partMatcher(pattern: string): (name: string) => boolean {
  if (!/[*?]/.test(pattern)) return (name) => name === pattern;
  const tail = pattern.slice(1);
  if (pattern.startsWith("*") && !/[*?]/.test(tail)) return (name) => name.endsWith(tail);
  const head = pattern.slice(0, -1);
  if (pattern.endsWith("*") && !/[*?]/.test(head)) return (name) => name.startsWith(head);
  const letters = [...pattern];
  return (name) => wild(letters, [...name], "*", (p, s) => p === "?" || p === s);
}

/**
 * Compiles globs. With `anyCase`, case and Unicode compatibility forms do not tell names apart:
 * right for a list of what must not be touched, where a folder may be case-insensitive.
 *
 * @example
 * ```ts
 * import { makeGlobs } from "./glob.ts";
 * makeGlobs([".env*"], { anyCase: true }).covers(["app", ".ENV.local"]); // true
 * ```
 */
export function makeGlobs(
  globs: readonly string[],
  options: { readonly anyCase: boolean },
): Globs {
  const { anyCase } = options;
  const names: ((name: string) => boolean)[] = [];
  const exact = new Set<string>();
  const paths: (readonly string[])[] = [];
  const parts = new Map<string, (name: string) => boolean>();
  for (const glob of globs) {
    const text = fold(glob.replace(/^\/+|\/+$/g, ""), anyCase);
    if (text === "") continue;
    if (!text.includes("/") && text !== "**") {
      if (/[*?]/.test(text)) names.push(partMatcher(text));
      else exact.add(text);
      continue;
    }
    const pattern = text.split("/");
    for (const part of pattern) if (part !== "**") parts.set(part, partMatcher(part));
    paths.push(pattern);
  }
  const one = (want: string, have: string): boolean => parts.get(want)?.(have) ?? false;
  const named = (folded: string): boolean => exact.has(folded) || names.some((m) => m(folded));
  const pathed = (folded: readonly string[]): boolean =>
    paths.some((pattern) => wild(pattern, folded, "**", one));

  const covers = (given: readonly string[]): boolean => {
    const folded = given.map((part) => fold(part, anyCase));
    if (folded.some(named)) return true;
    if (paths.length === 0) return false;
    for (let end = 1; end <= folded.length; end++) {
      if (pathed(folded.slice(0, end))) return true;
    }
    return false;
  };
  const matches = (given: readonly string[]): boolean => {
    const last = given[given.length - 1];
    if (last !== undefined && named(fold(last, anyCase))) return true;
    return paths.length > 0 && pathed(given.map((part) => fold(part, anyCase)));
  };
  const hasPaths = paths.length > 0;
  return Object.freeze({
    hasPaths,
    matches,
    covers,
  });
}
