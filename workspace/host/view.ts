/** The folder as the agent sees it: the mounts with staged changes over them. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import type { StagedChange } from "../../contracts/tool/workspace.ts";
import { formsOf, type NamedPath, SCRATCH } from "../path.ts";
import { digestBytes } from "./content.ts";
import { type Opened, openJudged, readAll, resolvePlace } from "./open.ts";
import type { HostCall, HostState } from "./state.ts";
import { mix, type Taint } from "./taint.ts";

/** Largest file that is read whole, edited, staged or recorded, in bytes. */
export const WHOLE_LIMIT = 16 * 1024 * 1024;

/** A file's content and its taint. */
export interface Seen {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly digest: Digest;
  readonly taint: Taint;
  /** Present when the content is staged rather than the folder's. */
  readonly staged?: StagedChange;
}

/** The staged change of a path, links followed; undefined where the folder's own version shows. */
export function stagedAt(
  state: HostState,
  call: HostCall,
  path: NamedPath,
): StagedChange | undefined {
  if (path.mount === SCRATCH) return state.overlay.get(path.text);
  state.judge.readable(path);
  const direct = [path, ...formsOf(path)].map(({ text }) => state.overlay.get(text))
    .find((change) => change !== undefined);
  if (direct !== undefined || state.overlay.list().length === 0) return direct;
  const place = resolvePlace({ ...state, links: call.links }, path);
  return state.overlay.get(place.path.text);
}

/** Staged files, and the folders that lead to them, by folder. A deletion alone creates no folder. */
export function stagedTree(
  state: HostState,
): ReadonlyMap<string, ReadonlyMap<string, StagedChange | "folder">> {
  const tree = new Map<string, Map<string, StagedChange | "folder">>();
  for (const change of state.overlay.list()) {
    const parts = change.path.split("/");
    for (let end = parts.length - 1; end >= 1; end--) {
      const folder = parts.slice(0, end).join("/"), name = parts[end] ?? "";
      const children = tree.get(folder) ?? new Map<string, StagedChange | "folder">();
      tree.set(folder, children);
      if (end === parts.length - 1) children.set(name, change);
      else if (!children.has(name) && change.next !== undefined) children.set(name, "folder");
    }
  }
  return tree;
}

/** The content of a staged change. Throws Fault `notFound` for a deletion. */
export async function readStaged(state: HostState, change: StagedChange): Promise<Seen> {
  if (change.next === undefined) {
    throw new Fault("notFound", `Cannot read "${change.path}": it is staged for deletion`);
  }
  const store = change.path.startsWith(`${SCRATCH}/`) ? state.scratch : state.content;
  const bytes = await store.get(change.next);
  const taint = { colour: change.colour, label: change.label };
  return { bytes, digest: change.next, taint, staged: change };
}

/** The folder's own version of a file, at most {@link WHOLE_LIMIT} bytes. */
export async function readFolder(
  state: HostState,
  call: HostCall,
  path: NamedPath,
): Promise<Seen> {
  const opened = openJudged({ ...state, links: call.links }, path);
  try {
    return await readOpened(state, opened, path);
  } finally {
    opened.file.close();
  }
}

/** The content of an open file, at most {@link WHOLE_LIMIT} bytes. */
export async function readOpened(
  state: HostState,
  opened: Opened,
  path: NamedPath,
): Promise<Seen> {
  const bytes = readAll(opened, path.text, WHOLE_LIMIT);
  const digest = await digestBytes(state.sha256, bytes);
  state.met.add(digest);
  const taint = mix(
    state.taints.ofPath(opened.place.mount, opened.place.path.parts),
    state.exports.of(opened.place, digest),
  );
  // A link's name may be marked where its target is not.
  return { bytes, digest, taint: mix(taint, taintOfName(state, path)) };
}

/** The taint of a file's name alone. */
export function taintOfName(state: HostState, path: NamedPath): Taint {
  return state.taints.ofPath(state.judge.readable(path).mount, path.parts);
}

/** A file as the agent sees it. */
export async function readSeen(state: HostState, call: HostCall, path: NamedPath): Promise<Seen> {
  const change = stagedAt(state, call, path);
  if (change !== undefined) return await readStaged(state, change);
  if (path.mount === SCRATCH) {
    throw new Fault("notFound", `Cannot read "${path.text}": it does not exist`);
  }
  return await readFolder(state, call, path);
}
