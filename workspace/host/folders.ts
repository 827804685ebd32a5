/** Folders that a patch needs, and taking back those it made. @module */
import { about } from "./_trouble.ts";
import { FsTrouble } from "./files.ts";
import type { Place } from "./judge.ts";
import type { HostState } from "./state.ts";
import { parsePath } from "../path.ts";

/** Makes the folders above these places that are missing. Returns their names, outermost first. */
export function makeFolders(
  state: HostState,
  places: readonly Place[],
  options: { readonly noting: (names: readonly string[]) => void },
): readonly string[] {
  const missing = new Map<string, string>();
  for (const { path, mount } of places) {
    for (let depth = 1; depth < path.parts.length; depth++) {
      const rel = path.parts.slice(0, depth).join("/");
      const name = `${mount.name}/${rel}`, full = `${mount.root}/${rel}`;
      if (missing.has(name)) continue;
      const above = `${mount.name}/${path.parts.slice(0, depth - 1).join("/")}`;
      // Beneath what is missing all is missing.
      if (missing.has(above)) missing.set(name, full);
      else if (about("apply", name, () => state.files.stat(full)) === undefined) {
        missing.set(name, full);
      }
    }
  }
  const names = [...missing.keys()];
  if (names.length === 0) return names;
  options.noting(names);
  const made: string[] = [];
  try {
    for (const [name, full] of missing) {
      about("apply", name, () => state.files.makeFolder(full));
      made.push(name);
    }
  } catch (error) {
    pruneFolders(state, made);
    throw error;
  }
  return names;
}

/** Removes these folders where they are empty, innermost first. */
export function pruneFolders(state: HostState, names: readonly string[]): void {
  for (const name of [...names].sort((a, b) => b.length - a.length)) {
    try {
      state.files.remove(state.judge.writable(parsePath(name)).full);
    } catch (error) {
      // Not empty, or gone: either way it is not ours any more.
      if (!(error instanceof FsTrouble)) throw error;
    }
  }
}
