/**
 * Turns what a program did to its copies into staged changes. The program and its children have
 * ended, so the copies no longer change, but every name and file in them is hostile. Used by
 * service.ts.
 * @module
 */
import type { CollectBody, Collected } from "../../contracts/tool/command.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { StagedChange } from "../../contracts/tool/workspace.ts";
import { digestBytes } from "../host/content.ts";
import { FsTrouble } from "../host/files.ts";
import { openJudged, readAll } from "../host/open.ts";
import { type HostState, linksOf } from "../host/state.ts";
import { mix } from "../host/taint.ts";
import { taintOfName, WHOLE_LIMIT } from "../host/view.ts";
import { checkNewName, DEPTH_LIMIT, type NamedPath, parsePath } from "../path.ts";
import { type Copied, type Copies, COPY_FILES, isSame, stagedOrigin } from "./copies.ts";
import { type CopyFiles, type CopyStat, isProgram } from "./copy_files.ts";

/** Maximum number of lines about changes that are not kept. */
const MAX_LEFT_LINES = 100;
/** Maximum number of staged changes of one run. */
const MAX_CHANGES = 10_000;
/** Modes that the next run may find on a program's file unchanged. */
const PLAIN_MODES: ReadonlySet<number> = new Set([0o644, 0o664, 0o666, 0o755, 0o775, 0o777]);
/** Maximum length of a line about one name. */
const MAX_LINE = 600;

/**
 * Compares the copies with what was copied and keeps the contents of changed files. `untouched`:
 * everything, folders included, is certainly unchanged. `remade`: copies that hold what is staged
 * now; undefined for a copy that no longer holds what was copied.
 */
export async function collectChanges(
  { state, files }: { readonly state: HostState; readonly files: CopyFiles },
  copies: Copies,
  caller: CollectBody,
): Promise<
  { readonly collected: Collected; readonly remade: ReadonlyMap<string, Copied | undefined> }
> {
  const staged: StagedChange[] = [];
  const unstaged: string[] = [];
  const left: string[] = [];
  const met = new Set<string>();
  /** Folders that could not be read: their earlier files do not count as deleted. */
  const closed: string[] = [];
  const links = linksOf(state);
  const folders = new Set<string>(copies.mounts);
  const remade = new Map<string, Copied | undefined>();
  let entries = 0, untouched = true;

  const leave = (path: string, why: string): void => {
    if (left.length < MAX_LEFT_LINES) left.push(`${path}: ${why}`.slice(0, MAX_LINE));
  };
  const stage = (change: StagedChange): void => {
    if (staged.length >= MAX_CHANGES) {
      throw new Fault("tooLarge", `Cannot stage a run's changes: more than ${MAX_CHANGES} files`);
    }
    staged.push(change);
  };
  /** The path if a tool may write there; otherwise notes the reason. */
  const writable = (text: string, base: Copied["base"]): NamedPath | undefined => {
    try {
      const path = parsePath(text);
      state.judge.writable(path);
      if (base === undefined) checkNewName(path);
      return path;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      leave(text, error.message);
      return undefined;
    }
  };

  /** Stores the bytes that the change replaces: review and undo need them. */
  const keepBase = async (path: NamedPath, copied: Copied | undefined): Promise<boolean> => {
    if (copied === undefined || copied.base === undefined || copied.staged) return true;
    try {
      const opened = openJudged({ ...state, links }, path);
      try {
        const bytes = readAll(opened, path.text, WHOLE_LIMIT);
        if (await state.content.put(bytes) === copied.base) return true;
      } finally {
        opened.file.close();
      }
    } catch (error) {
      if (!(error instanceof Fault) || error.code === "storeFull") throw error;
    }
    leave(path.text, "it changed in the folder while the program ran");
    return false;
  };

  const changed = async (
    text: string,
    full: string,
    { stat, copied }: { readonly stat: CopyStat; readonly copied: Copied | undefined },
  ): Promise<void> => {
    const path = writable(text, copied?.base);
    if (path === undefined) return;
    if (stat.bytes > WHOLE_LIMIT || (copied !== undefined && copied.seen === undefined)) {
      return leave(text, `files above ${WHOLE_LIMIT} bytes are not staged`);
    }
    const bytes = files.read(full);
    const next = await digestBytes(state.sha256, bytes);
    const was = copied !== undefined && isProgram(copied.stat.mode);
    const fresh = copied?.base === undefined;
    if (isProgram(stat.mode) !== was && !fresh) {
      leave(text, `its executable bit is not ${was ? "taken away" : "kept"}; its content is`);
    }
    if (next === copied?.seen && (!fresh || isProgram(stat.mode) === was)) {
      remade.delete(text);
      return;
    }
    if (next === copied?.base) {
      unstaged.push(text);
      return;
    }
    if (!await keepBase(path, copied)) return;
    await state.content.put(bytes);
    // The next run gets this same file again, with its time and mode.
    if (stat.links === 1 && PLAIN_MODES.has(stat.mode & 0o7777)) {
      const origin = stagedOrigin(next), base = copied?.base;
      remade.set(text, { path: text, kind: "file", stat, origin, seen: next, base, staged: true });
    }
    const base = copied?.base;
    if (fresh && isProgram(stat.mode)) leave(text, "of its mode the executable bit alone is kept");
    const taint = mix(mix(caller, copies.taint), taintOfName(state, path));
    stage({
      path: text,
      ...(base === undefined ? {} : { base }),
      next,
      bytes: bytes.length,
      ...taint,
      ...(fresh && isProgram(stat.mode) ? { executable: true } : {}),
    });
  };

  const removed = async (copied: Copied): Promise<void> => {
    untouched = false;
    const { path: text, kind, base } = copied;
    if (closed.some((folder) => text.startsWith(`${folder}/`))) return;
    if (kind === "link") return leave(text, "links are not staged; it stays");
    const path = writable(text, base);
    if (path === undefined) return;
    if (copied.seen === undefined) {
      return leave(text, `files above ${WHOLE_LIMIT} bytes are not staged; it stays`);
    }
    if (base === undefined) {
      // The file existed only as a staged change, so nothing is left of it.
      unstaged.push(text);
      return;
    }
    if (!await keepBase(path, copied)) return;
    stage({
      path: text,
      base,
      bytes: 0,
      ...mix(mix(caller, copies.taint), taintOfName(state, path)),
    });
  };

  const folder = async (text: string, full: string, depth: number): Promise<void> => {
    const was = copies.folders.get(text);
    untouched &&= was !== undefined && isSame(was, statOf(files, full), copies.sealedMs);
    for (const { name, kind } of openFolder(files, full, () => closed.push(text)) ?? []) {
      if (++entries > 2 * COPY_FILES) {
        throw new Fault("tooLarge", `Cannot stage a run's changes: it made too many files`);
      }
      const path = `${text}/${name}`, at = `${full}/${name}`;
      if (kind === "folder") {
        met.add(path);
        if (copies.entries.has(path)) {
          untouched = false;
          leave(path, "a folder took a file's place; nothing of it is staged, the file stays");
          continue;
        }
        folders.add(path);
        if (depth < DEPTH_LIMIT) await folder(path, at, depth + 1);
        else leave(path, "it lies too deep");
        continue;
      }
      try {
        await compare(path, at);
      } catch (error) {
        if (!(error instanceof FsTrouble)) throw error;
        leave(path, "it cannot be read");
      }
    }
  };

  const compare = async (path: string, at: string): Promise<void> => {
    met.add(path);
    const copied = copies.entries.get(path);
    const stat = files.stat(at);
    if (stat === undefined) {
      untouched = false;
      return leave(path, "its name is not UTF-8");
    }
    untouched &&= copied !== undefined && isSame(copied.stat, stat, copies.sealedMs);
    // A file changed in the same second as its copying may have had its times reset, so it is
    // compared.
    if (copied !== undefined && isSame(copied.stat, stat, copies.sealedMs)) return;
    remade.set(path, undefined);
    if (copied?.stat.mark === stat.mark && copied.seen === undefined) return;
    if (copies.folders.has(path)) {
      leave(
        path,
        "what took a folder's place is not staged; the files that the folder had are deleted",
      );
    } else if (stat.kind === "file" && copied?.kind !== "link") {
      await changed(path, at, { stat, copied });
    } else if (stat.kind !== "link" || copied?.kind !== "link") {
      leave(path, "only plain files are staged, no links, pipes or devices");
    } else if (`link:${files.readLink(at)}` !== copied.origin) {
      leave(path, "links are not staged; it leads where it led");
    }
  };

  /** Reports folders that a patch neither makes nor removes, outermost only. */
  const tellFolders = (): void => {
    const led = new Set(staged.flatMap(({ path, next }) => next === undefined ? [] : above(path)));
    const under = (path: string, among: ReadonlySet<string>): boolean =>
      among.has(path.slice(0, path.lastIndexOf("/")));
    const made = new Set(
      [...folders].filter((path) =>
        path.includes("/") && !copies.folders.has(path) && !led.has(path)
      ),
    );
    const gone = new Set(
      [...copies.folders.keys()].filter((path) =>
        !folders.has(path) && !closed.some((each) => path.startsWith(`${each}/`))
      ),
    );
    for (const path of made) if (!under(path, made)) leave(path, "an empty folder is not staged");
    for (const path of gone) {
      if (!under(path, gone)) leave(path, "the folder stays: only files are taken away");
    }
  };

  for (const mount of copies.mounts) await folder(mount, `${copies.place}/${mount}`, 1);
  for (const copied of copies.entries.values()) if (!met.has(copied.path)) await removed(copied);
  for (const text of closed) leave(text, "the program closed this folder; nothing of it is staged");
  tellFolders();
  const writtenBytes = staged.reduce((sum, { bytes }) => sum + bytes, 0);
  untouched &&= left.length === 0;
  return { collected: { staged, unstaged, left, writtenBytes, untouched }, remade };
}

/** The folders above a path, including the mount's own. */
function above(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

/** The particulars of a folder; undefined where they cannot be read. */
function statOf(files: CopyFiles, folder: string): CopyStat | undefined {
  try {
    return files.stat(folder);
  } catch (error) {
    if (error instanceof FsTrouble) return undefined;
    throw error;
  }
}

/** Lists a folder, restoring permissions that the program removed; undefined if it stays closed. */
function openFolder(
  files: CopyFiles,
  full: string,
  onClosed: () => void,
): ReturnType<CopyFiles["list"]> | undefined {
  try {
    return files.list(full);
  } catch (error) {
    if (!(error instanceof FsTrouble)) throw error;
  }
  try {
    files.reopen(full);
    return files.list(full);
  } catch (error) {
    if (!(error instanceof FsTrouble)) throw error;
    onClosed();
    return undefined;
  }
}
