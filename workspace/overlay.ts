/**
 * The overlay: what a task has staged over its mounts, path by path. The kernel's copy is
 * authoritative; a toolhost's copy is compared with it at each call.
 * @module
 */
import type { StagedChange } from "../contracts/tool/workspace.ts";

/** Staged changes by path. */
export interface Overlay {
  get(path: string): StagedChange | undefined;
  put(change: StagedChange): void;
  drop(path: string): void;
  replace(changes: Iterable<StagedChange>): void;
  /** Sorted by path. */
  list(): readonly StagedChange[];
  /** Equal texts mean equal overlays: the kernel and a toolhost compare the SHA-256. */
  canonical(): string;
}

/** Orders texts by UTF-16 units, the same on every machine. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function line(change: StagedChange): string {
  return [
    change.path,
    change.base ?? "",
    change.next ?? "",
    change.bytes,
    change.colour,
    change.label,
    ...(change.executable === undefined ? [] : ["executable"]),
  ].join("\0");
}

/** Makes an overlay that holds `changes`. */
export function makeOverlay(changes: Iterable<StagedChange> = []): Overlay {
  const map = new Map<string, StagedChange>();
  let sorted: readonly StagedChange[] | undefined;
  let text: string | undefined;
  const touched = (): void => {
    sorted = undefined;
    text = undefined;
  };
  const put = (change: StagedChange): void => {
    map.set(change.path, change);
    touched();
  };
  const list = (): readonly StagedChange[] =>
    sorted ??= Object.freeze([...map.values()].sort((a, b) => byText(a.path, b.path)));
  for (const change of changes) put(change);
  return Object.freeze({
    get: (path: string) => map.get(path),
    put,
    drop(path: string): void {
      if (map.delete(path)) touched();
    },
    replace(all: Iterable<StagedChange>): void {
      map.clear();
      touched();
      for (const change of all) map.set(change.path, change);
    },
    list,
    canonical: () => text ??= list().map(line).join("\n"),
  });
}
