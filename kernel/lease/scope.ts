/** When one scope lies within another. @module */
import type { Scope } from "../../contracts/mod.ts";

/** Tells whether whoever holds `outer` holds `inner`: same resource and right, a prefix of whole parts. */
export function covers(outer: Scope, inner: Scope): boolean {
  return outer.resource === inner.resource && outer.right === inner.right &&
    beneath(outer.path, inner.path);
}

/** Tells whether `path` is `root` or lies beneath it. The empty root covers all. */
export function beneath(root: string, path: string): boolean {
  // INVARIANT: a path with parts that name other places is beneath nothing (test: "… dots …").
  if (/(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) return false;
  if (root === "" || path === root) return true;
  return path.startsWith(root) && (root.endsWith("/") || path[root.length] === "/");
}

/** A scope in words: `read mount desk/notes`. */
export function scopeText({ resource, right, path }: Scope): string {
  return `${right} ${resource}${path === "" ? "" : ` ${JSON.stringify(path)}`}`;
}
