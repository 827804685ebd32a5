/** Copies mounts as the agent sees them: staged changes made, the never-list left out. @module */
import { Fault } from "../../contracts/fault.ts";
import type { StagedChange } from "../../contracts/workspace.ts";
import { digestBytes } from "../host/content.ts";
import { FsTrouble } from "../host/files.ts";
import type { LinkJudge } from "../host/links.ts";
import { type Opened, openJudged, readAll } from "../host/open.ts";
import { type HostState, linksOf } from "../host/state.ts";
import { CLEAN, mix, type Taint } from "../host/taint.ts";
import { WHOLE_LIMIT } from "../host/view.ts";
import { DEPTH_LIMIT, type NamedPath, parsePath } from "../path.ts";
import { type Copied, type Copies, COPY_BYTES, COPY_FILES } from "./copies.ts";
import type { CopyFiles } from "./copy_files.ts";

const PIECE = 1024 * 1024;

/** Permission bits of a copy: a program stays one. */
function modeOf(mode: number): number {
  return (mode & 0o111) === 0 ? 0o666 : 0o777;
}

/**
 * Copies these mounts into folders of their names in `work`.
 *
 * @throws Fault `tooLarge`, `storeFull`, `notFound`
 */
export async function copyMounts(
  { state, files }: { readonly state: HostState; readonly files: CopyFiles },
  { mounts, work }: { readonly mounts: readonly string[]; readonly work: string },
): Promise<Copies> {
  const entries = new Map<string, Copied>();
  const links = linksOf(state);
  const staged = stagedTree(state.overlay.list());
  let taint: Taint = CLEAN;
  let bytes = 0, withheld = 0;

  const grow = (more: number): void => {
    bytes += more;
    const why = entries.size >= COPY_FILES
      ? `more than ${COPY_FILES} files`
      : bytes > COPY_BYTES
      ? `more than ${COPY_BYTES} bytes`
      : undefined;
    if (why === undefined) return;
    throw new Fault("tooLarge", `Cannot copy ${mounts.join(", ")}: ${why}; mount a smaller folder`);
  };
  const keep = (copied: Omit<Copied, "mark">, full: string): void => {
    entries.set(copied.path, { ...copied, mark: files.stat(full)?.mark ?? "" });
  };

  const copyFile = async (path: NamedPath, to: string): Promise<void> => {
    const opened = judged({ state, links }, path);
    if (opened === undefined) {
      withheld++;
      return;
    }
    try {
      const { stat, place } = opened;
      grow(stat.bytes);
      taint = mix(taint, state.taints.ofPath(place.mount, place.path.parts));
      if (stat.bytes > WHOLE_LIMIT) {
        files.write(to, pieces(opened, () => grow(PIECE)), modeOf(stat.mode));
        keep(
          { path: path.text, kind: "file", seen: undefined, base: undefined, staged: false },
          to,
        );
        return;
      }
      const content = readAll(opened, path.text, WHOLE_LIMIT);
      const digest = await digestBytes(state.sha256, content);
      taint = mix(taint, state.taints.ofDigest(digest));
      files.write(to, [content], modeOf(stat.mode));
      keep({ path: path.text, kind: "file", seen: digest, base: digest, staged: false }, to);
    } finally {
      opened.file.close();
    }
  };

  const copyStaged = async (change: StagedChange, to: string): Promise<void> => {
    taint = mix(taint, change);
    if (change.next === undefined) return;
    grow(change.bytes);
    files.write(to, [await state.content.get(change.next)], modeOf(0o644));
    const { path, base, next } = change;
    keep({ path, kind: "file", seen: next, base, staged: true }, to);
  };

  const copyFolder = async (
    at: {
      readonly mount: string;
      readonly parts: readonly string[];
      readonly from: string | undefined;
    },
    to: string,
  ): Promise<void> => {
    const { mount, parts, from } = at;
    files.makeFolder(to);
    const above = [mount, ...parts].join("/");
    const changes = staged.get(above) ?? new Map<string, StagedChange | "folder">();
    const met = new Set<string>();
    for (const { name, kind } of from === undefined ? [] : listed(state, from)) {
      const below = [...parts, name], text = `${above}/${name}`, target = `${to}/${name}`;
      const change = changes.get(name);
      met.add(name);
      if (state.judge.neverNext(mount, below) || name.startsWith(".remit-")) {
        withheld++;
      } else if (change !== undefined && change !== "folder") {
        await copyStaged(change, target);
      } else if (kind === "folder" && below.length < DEPTH_LIMIT) {
        await copyFolder({ mount, parts: below, from: `${from}/${name}` }, target);
      } else if (change === "folder") {
        await copyFolder({ mount, parts: below, from: undefined }, target);
      } else if (kind === "link") {
        grow(0);
        files.makeLink(files.readLink(`${from}/${name}`), target);
        keep({ path: text, kind, seen: undefined, base: undefined, staged: false }, target);
      } else if (kind === "file") {
        const path = named(text);
        if (path === undefined) withheld++;
        else await copyFile(path, target);
      } else withheld++;
    }
    for (const [name, change] of changes) {
      if (met.has(name)) continue;
      const target = `${to}/${name}`;
      if (change !== "folder") await copyStaged(change, target);
      else await copyFolder({ mount, parts: [...parts, name], from: undefined }, target);
    }
  };

  for (const name of mounts) {
    const place = state.judge.readable(parsePath(name));
    taint = mix(taint, state.taints.ofPath(place.mount, []));
    await copyFolder({ mount: name, parts: [], from: place.full }, `${work}/${name}`);
  }
  return { work, mounts, entries, taint, bytes, withheld };
}

/** Staged files, and the folders that lead to them, by folder. A deletion makes no folder. */
function stagedTree(
  changes: readonly StagedChange[],
): ReadonlyMap<string, ReadonlyMap<string, StagedChange | "folder">> {
  const tree = new Map<string, Map<string, StagedChange | "folder">>();
  for (const change of changes) {
    const parts = change.path.split("/");
    for (let end = parts.length - 1; end >= 1; end--) {
      const folder = parts.slice(0, end).join("/"), name = parts[end] ?? "";
      const leaf = end === parts.length - 1;
      if (!leaf && change.next === undefined) break;
      const children = tree.get(folder) ?? new Map<string, StagedChange | "folder">();
      tree.set(folder, children);
      if (leaf || !children.has(name)) children.set(name, leaf ? change : "folder");
    }
  }
  return tree;
}

function listed(state: HostState, folder: string): ReturnType<HostState["files"]["list"]> {
  try {
    return state.files.list(folder);
  } catch (error) {
    // What this user cannot look into, nobody gets.
    if (error instanceof FsTrouble && error.code === "denied") return [];
    throw error;
  }
}

/** Undefined for a name that no tool could name. */
function named(text: string): NamedPath | undefined {
  try {
    return parsePath(text);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** The open file; undefined where it may not be read, or is no file any more. */
function judged(
  { state, links }: { readonly state: HostState; readonly links: LinkJudge },
  path: NamedPath,
): Opened | undefined {
  try {
    return openJudged({ ...state, links }, path);
  } catch (error) {
    if (error instanceof Fault && error.code !== "storeFull") return undefined;
    throw error;
  }
}

function* pieces({ file, stat }: Opened, grown: () => void): Generator<Uint8Array> {
  const piece = new Uint8Array(PIECE);
  for (let at = 0;;) {
    const length = file.readAt(at, piece);
    if (length === 0) return;
    at += length;
    if (at > stat.bytes) grown();
    yield piece.subarray(0, length);
  }
}
