/**
 * Globs over paths, matched in time linear in the pattern for each part: `*` and `?` within a
 * part, `**` across parts. A glob without `/` matches a part of that name at any depth.
 * @module
 */
import { foldPath, partMatcher, wild } from "../text/path_list.ts";

/** A set of globs, compiled. */
export interface Globs {
  /** Tells whether this path itself matches. Takes the path's parts. */
  matches(parts: readonly string[]): boolean;
  /** Tells whether this path or a folder above it matches. */
  covers(parts: readonly string[]): boolean;
}

const fold = (text: string, anyCase: boolean): string => anyCase ? foldPath(text) : text;

/**
 * Compiles globs. With `anyCase`, names that differ only in case or Unicode compatibility form are
 * equal: right for a list of forbidden names, because a folder may ignore case.
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
  return Object.freeze({ matches, covers });
}
