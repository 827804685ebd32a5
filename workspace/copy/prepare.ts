/**
 * Copies mounts as the agent sees them: staged changes applied, never-listed files left out. Used
 * by service.ts.
 * @module
 */
import type { PrepareBody } from "../../contracts/tool/command.ts";
import { EXPORT_LIST } from "../../contracts/authority/export_claims.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { StagedChange } from "../../contracts/tool/workspace.ts";
import { digestBytes } from "../host/content.ts";
import { type FileStat, FsTrouble } from "../host/files.ts";
import type { LinkJudge } from "../host/links.ts";
import { type Opened, openJudged, readAll } from "../host/open.ts";
import { type HostState, linksOf } from "../host/state.ts";
import { CLEAN, mix, type Taint } from "../host/taint.ts";
import { stagedTree, WHOLE_LIMIT } from "../host/view.ts";
import { DEPTH_LIMIT, type NamedPath, parsePath } from "../path.ts";
import { type Copied, type Copies, COPY_BYTES, COPY_FILES, stagedOrigin } from "./copies.ts";
import { type CopyAs, type CopyFiles, isProgram, statOf } from "./copy_files.ts";
import { type Earlier, makeGround } from "./reuse.ts";

const PIECE = 1024 * 1024;

/**
 * A copy keeps the modification time of its file, for programs that compare times, as `make` does;
 * an executable stays executable.
 */
function copyOf({ mode, modifiedMs }: Pick<FileStat, "mode" | "modifiedMs">): CopyAs {
  return { mode: modeOf(mode), modifiedMs };
}

/** Permission bits of a copy. */
function modeOf(mode: number): number {
  return isProgram(mode) ? 0o777 : 0o666;
}

export interface CopyParts {
  readonly state: HostState;
  readonly files: CopyFiles;
  /** The machine's clock, in milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Copies these mounts into folders of their names, in a folder `generation` of `work`, or into the
 * previous copies if the program left them unchanged.
 *
 * @throws Fault `tooLarge`, `storeFull`, `notFound`
 */
export async function copyMounts(
  { state, files, now }: CopyParts,
  { mounts, only = mounts, work, generation }: Pick<
    PrepareBody,
    "mounts" | "only" | "work" | "generation"
  >,
  earlier: Earlier | undefined,
): Promise<Copies> {
  const ground = makeGround(files, `${work}/${generation}`, earlier);
  const entries = new Map<string, Copied>();
  const folders: string[] = [];
  const links = linksOf(state);
  const staged = stagedTree(state);
  const contents = new Set<string>();
  let taint: Taint = CLEAN;
  let bytes = 0, withheld = 0, made = 0, newestMs = 0;
  const fresh: string[] = [];

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
  const fullOf = (path: string): string => `${ground.place}/${path}`;
  const keep = (copied: Omit<Copied, "stat">): void => {
    made++;
    entries.set(copied.path, { ...copied, stat: statOf(files, fullOf(copied.path)) });
  };

  const copyFile = async (path: NamedPath): Promise<void> => {
    const opened = judged({ state, links }, path);
    if (opened === undefined) {
      withheld++;
      return;
    }
    try {
      const { stat, place } = opened;
      grow(stat.bytes);
      newestMs = Math.max(newestMs, stat.modifiedMs);
      taint = mix(taint, state.taints.ofPath(place.mount, place.path.parts));
      const origin = originOf(stat, now());
      const was = ground.take(path.text, origin);
      if (was !== undefined) {
        if (was.seen !== undefined) contents.add(was.seen);
        entries.set(path.text, was);
        return;
      }
      const plain = { path: path.text, kind: "file", origin, staged: false } as const;
      if (stat.bytes > WHOLE_LIMIT) {
        files.write(fullOf(path.text), pieces(opened, () => grow(PIECE)), copyOf(stat));
        keep({ ...plain, seen: undefined, base: undefined });
        return;
      }
      const content = readAll(opened, path.text, WHOLE_LIMIT);
      const digest = await digestBytes(state.sha256, content);
      contents.add(digest);
      files.write(fullOf(path.text), [content], copyOf(stat));
      keep({ ...plain, seen: digest, base: digest });
    } finally {
      opened.file.close();
    }
  };

  /** `from`: the path of the folder's own version of the changed file. */
  const copyStaged = async (change: StagedChange, from?: string): Promise<void> => {
    const { path, base, next } = change;
    taint = mix(taint, change);
    if (next === undefined) return;
    grow(change.bytes);
    const copied = { path, kind: "file", origin: stagedOrigin(next), seen: next, base } as const;
    const was = ground.take(path, copied.origin);
    if (was !== undefined) {
      entries.set(path, { ...copied, staged: true, stat: was.stat });
      return;
    }
    const stands = from === undefined ? undefined : state.files.stat(from);
    const mode = stands?.kind === "file" ? stands.mode : change.executable === true ? 0o755 : 0o644;
    files.write(fullOf(path), [await state.content.get(next)], { mode: modeOf(mode) });
    fresh.push(path);
    keep({ ...copied, staged: true });
  };

  const copyLink = (path: string, from: string): void => {
    grow(0);
    const target = files.readLink(from), origin = `link:${target}`;
    const was = ground.take(path, origin);
    if (was !== undefined) {
      entries.set(path, was);
      return;
    }
    files.makeLink(target, fullOf(path));
    keep({ path, kind: "link", origin, seen: undefined, base: undefined, staged: false });
  };

  const copyFolder = async (
    at: {
      readonly mount: string;
      readonly parts: readonly string[];
      readonly from: string | undefined;
    },
  ): Promise<void> => {
    const { mount, parts, from } = at;
    const above = [mount, ...parts].join("/");
    ground.folder(above);
    folders.push(above);
    const changes = staged.get(above) ?? new Map<string, StagedChange | "folder">();
    const met = new Set<string>();
    for (const { name, kind } of from === undefined ? [] : listed(state, from)) {
      const below = [...parts, name], text = `${above}/${name}`;
      const change = changes.get(name);
      met.add(name);
      if (name === EXPORT_LIST && from !== undefined) taint = mix(taint, state.exports.all(from));
      if (state.judge.neverNext(mount, below) || name.startsWith(".remit-")) {
        withheld++;
      } else if (change !== undefined && change !== "folder") {
        await copyStaged(change, `${from}/${name}`);
      } else if (kind === "folder" && below.length < DEPTH_LIMIT) {
        await copyFolder({ mount, parts: below, from: `${from}/${name}` });
      } else if (change === "folder") {
        await copyFolder({ mount, parts: below, from: undefined });
      } else if (kind === "link") {
        copyLink(text, `${from}/${name}`);
      } else if (kind === "file") {
        const path = named(text);
        if (path === undefined) withheld++;
        else await copyFile(path);
      } else withheld++;
    }
    for (const [name, change] of changes) {
      if (met.has(name)) continue;
      if (change !== "folder") await copyStaged(change);
      else await copyFolder({ mount, parts: [...parts, name], from: undefined });
    }
  };

  const whole = new Set(only);
  for (const text of only) {
    const path = parsePath(text), { mount, full } = state.judge.readable(path);
    taint = mix(taint, state.taints.ofPath(mount, path.parts));
    for (let end = 0; end < path.parts.length; end++) {
      const above = [path.mount, ...path.parts.slice(0, end)].join("/");
      if (whole.has(above) || folders.includes(above)) continue;
      ground.folder(above);
      folders.push(above);
    }
    const change = state.overlay.get(text);
    if (change !== undefined) await copyStaged(change, full);
    else if (state.files.stat(full)?.kind === "file") await copyFile(path);
    else await copyFolder({ mount: path.mount, parts: path.parts, from: full });
  }
  ground.finish();
  // Staged files must be newer than the folder's, unless the folder has a time in the future.
  for (const path of newestMs < now() ? [] : fresh) {
    const copied = entries.get(path);
    if (copied === undefined) continue;
    files.setTime(fullOf(path), newestMs + 1_000);
    entries.set(path, { ...copied, stat: statOf(files, fullOf(path)) });
  }
  const { place } = ground;
  const stats = new Map(folders.map((path) => [path, statOf(files, fullOf(path))]));
  const sealedMs = seal(files, `${place}/.seal`, made > 0 || ground.changed());
  return { place, mounts, entries, folders: stats, sealedMs, taint, contents, bytes, withheld };
}

/** Each write takes about 20 µs; a file system's clock advances every 1 to 10 ms. */
const SEAL_TRIES = 5_000;

/**
 * Returns the copies' file system time. With `wait`, the clock has advanced since the last copy was
 * made, so that a program's writes show in their times.
 */
function seal(files: CopyFiles, probe: string, wait: boolean): number {
  const first = files.touch(probe);
  let last = first;
  for (let n = 0; wait && n < SEAL_TRIES && last.modifiedMs === first.modifiedMs; n++) {
    last = files.touch(probe);
  }
  files.remove(probe);
  return last.changedMs;
}

/**
 * Milliseconds without change before a file's times identify its content: a later write within the
 * same tick may leave the times equal.
 */
const STILL_MS = 2_000;

/** Identifies a file's content by its particulars; undefined while the file is too recent. */
function originOf(stat: FileStat, now: number): string | undefined {
  const { dev, ino, bytes, mode, modifiedMs, changedMs } = stat;
  if (Math.max(modifiedMs, changedMs) > now - STILL_MS) return undefined;
  return [dev, ino, bytes, mode, modifiedMs, changedMs].join(":");
}

function listed(state: HostState, folder: string): ReturnType<HostState["files"]["list"]> {
  try {
    return state.files.list(folder);
  } catch (error) {
    // A folder that this user cannot read is copied as empty.
    if (error instanceof FsTrouble && (error.code === "closed" || error.code === "denied")) {
      return [];
    }
    throw error;
  }
}

/** The parsed path; undefined for a name that no tool can name. */
function named(text: string): NamedPath | undefined {
  try {
    return parsePath(text);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** The open file; undefined where reading is refused or no file is there. */
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
