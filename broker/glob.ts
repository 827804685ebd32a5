/** Globs over paths: `*` within a part, `**` as a part across parts. @module */

/** A compiled glob. */
export interface Glob {
  readonly text: string;
  /** Tells whether the whole path, given as its parts, matches. */
  matches(parts: readonly string[]): boolean;
}

/**
 * Compiles a glob. A part that is `**` stands for any number of parts, none included; elsewhere
 * `*` stands for any characters of one part. Takes at most pattern parts × path parts steps.
 *
 * @example
 * ```ts
 * import { makeGlob } from "./glob.ts";
 * if (!makeGlob("desk/**").matches(["desk", "a", "b.md"])) throw new Error("no match");
 * ```
 */
export function makeGlob(text: string): Glob {
  const pattern = text.replace(/^\/+|\/+$/g, "").split("/")
    .map((part) => part === "**" ? undefined : partMatcher(part));
  return Object.freeze({ text, matches: (parts: readonly string[]) => walk(pattern, parts) });
}

type PartMatcher = (part: string) => boolean;

/** Pieces between stars are found first come first taken: no piece is looked for twice. */
function partMatcher(pattern: string): PartMatcher {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return (part) => part === first;
  const between = rest.filter((piece) => piece !== "");
  return (part) => {
    if (part.length < first.length + last.length) return false;
    if (!part.startsWith(first) || !part.endsWith(last)) return false;
    const end = part.length - last.length;
    let at = first.length;
    for (const piece of between) {
      const found = part.indexOf(piece, at);
      if (found < 0 || found + piece.length > end) return false;
      at = found + piece.length;
    }
    return true;
  };
}

/** Greedy with one point of return: the last `**` alone is ever reconsidered. */
function walk(pattern: readonly (PartMatcher | undefined)[], parts: readonly string[]): boolean {
  let p = 0, s = 0, backP = -1, backS = 0;
  while (s < parts.length) {
    const want = pattern[p];
    if (p < pattern.length && want === undefined) {
      backP = ++p;
      backS = s;
    } else if (want?.(parts[s] ?? "")) {
      p++;
      s++;
    } else if (backP >= 0) {
      p = backP;
      s = ++backS;
    } else return false;
  }
  while (p < pattern.length && pattern[p] === undefined) p++;
  return p === pattern.length;
}
