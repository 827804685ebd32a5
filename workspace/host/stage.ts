/**
 * `file_write`, `file_edit`, `file_delete`: change one file, staged, or at once on `rw` mounts.
 * Used by host.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import type { HostCallAnswer } from "../../contracts/wire/wire_toolhost.ts";
import type { StagedChange } from "../../contracts/tool/workspace.ts";
import { checkNewName, formsOf, type NamedPath } from "../path.ts";
import { flag, maybeText, pathOf, text } from "./_args.ts";
import { about } from "./_trouble.ts";
import { applyChanges } from "./apply.ts";
import { recalled, remembered } from "./journal.ts";
import { decode, encode } from "./encoding.ts";
import { endsOf, findPassage } from "./passage.ts";
import type { HostCall, HostState } from "./state.ts";
import { mix, type Taint } from "./taint.ts";
import { readFolder, readStaged, type Seen, taintOfName, WHOLE_LIMIT } from "./view.ts";

/** A file before a change: the agent's view and the folder's version. */
interface Before {
  readonly path: NamedPath;
  readonly seen: Seen | undefined;
  /** The folder's content that the change replaces; undefined for a new file. */
  readonly base: Digest | undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Writes a whole file. */
export async function fileWrite(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const content = text(call.args, "content");
  return await change(state, call, () => encode(content, "utf-8"));
}

/** A note about changed or mixed line ends. */
function noteOfEnds(before: Seen | undefined, bytes: Bytes | undefined): string {
  const now = bytes === undefined ? undefined : endsIn(bytes);
  if (now === undefined) return "";
  if (now["\r\n"] > 0 && now["\n"] > 0) {
    return `; its line ends are mixed: ${now["\r\n"]} CRLF, ${now["\n"]} LF`;
  }
  const was = before === undefined ? undefined : endsIn(before.bytes);
  if (was === undefined) return "";
  if (was["\n"] === 0 && was["\r\n"] > 0 && now["\n"] > 0) {
    return "; its lines ended in CRLF and end in LF now";
  }
  if (was["\r\n"] === 0 && was["\n"] > 0 && now["\r\n"] > 0) {
    return "; its lines ended in LF and end in CRLF now";
  }
  return "";
}

function endsIn(bytes: Bytes): ReturnType<typeof endsOf> | undefined {
  const decoded = decode(bytes);
  return "text" in decoded ? endsOf(decoded.text) : undefined;
}

/** Replaces one exact passage of a file. */
export async function fileEdit(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const old = text(call.args, "old"), next = text(call.args, "new");
  if (old === "") throw new Fault("invalidArguments", `Cannot edit a file: "old" is empty`);
  return await change(state, call, ({ path, seen }) => {
    if (seen === undefined) {
      throw new Fault("notFound", `Cannot edit "${path.text}": it does not exist`);
    }
    const decoded = decode(seen.bytes);
    if (!("text" in decoded)) {
      throw new Fault(
        "refused",
        `Cannot edit "${path.text}": it is not text (${decoded.encoding})`,
      );
    }
    const found = findPassage(decoded.text, old, next);
    if ("why" in found) throw new Fault("conflict", `Cannot edit "${path.text}": ${found.why}`);
    const edited = decoded.text.slice(0, found.at) + found.next +
      decoded.text.slice(found.at + found.length);
    return encode(edited, decoded.encoding);
  });
}

/** Deletes a file. */
export async function fileDelete(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  return await change(state, call, ({ path, seen }) => {
    if (seen !== undefined) return undefined;
    throw new Fault("notFound", `Cannot delete "${path.text}": it does not exist`);
  });
}

async function change(
  state: HostState,
  call: HostCall,
  next: (before: Before) => Bytes | undefined,
): Promise<HostCallAnswer> {
  const asked = pathOf(call.args);
  const path = nameThere(state, asked);
  const place = state.judge.writable(path);
  const atOnce = place.mount.mode === "rw";
  // A call that runs again after a crash may find its change half or wholly made.
  const again = atOnce ? recalled(state, call.key) : undefined;
  if (again !== undefined) return await applyAtOnce(state, call, again);
  checkClash(state, path);
  const before = await lookBefore(state, call, path);
  checkBase(call, before);
  const bytes = next(before);
  if (before.base === undefined) checkNewName(path);
  if (bytes !== undefined && bytes.length > WHOLE_LIMIT) {
    throw new Fault("tooLarge", `Cannot write "${path.text}": more than ${WHOLE_LIMIT} bytes`);
  }
  const taint = mix(
    mix(call.caller, before.seen?.taint ?? {}),
    taintOfName(state, path),
  );
  const note = noteOfEnds(before.seen, bytes) +
    (path.text === asked.text ? "" : "; the file's name is in another Unicode form than yours");
  const staged = await makeChange(state, before, { bytes, taint });
  if (staged.next === staged.base) {
    state.overlay.drop(path.text);
    return told(`unchanged: ${path.text} is as the folder has it`, taint, {
      unstaged: [path.text],
      writtenBytes: 0,
    });
  }
  if (atOnce) {
    remembered(state, call.key, staged);
    return await applyAtOnce(state, call, staged, note);
  }
  state.overlay.put(staged);
  return told(
    `staged: ${sayChange(staged)}${note}; nothing is in the folder before patch_apply`,
    taint,
    {
      staged: [staged],
      writtenBytes: staged.bytes,
      ...(staged.base === undefined ? {} : { observed: staged.base }),
      ...(staged.next === undefined ? {} : { written: staged.next }),
    },
  );
}

/** The existing file that the path means: another Unicode form looks the same to everybody. */
function nameThere(state: HostState, path: NamedPath): NamedPath {
  const isThere = (each: NamedPath): boolean =>
    state.overlay.get(each.text) !== undefined ||
    about("write", path.text, () => state.files.stat(state.judge.writable(each).full)) !==
      undefined;
  const forms = formsOf(path);
  return forms.length === 0 || isThere(path) ? path : forms.find(isThere) ?? path;
}

/** Refuses one path as both a file and a folder: such a patch could never be applied. */
function checkClash(state: HostState, path: NamedPath): void {
  const clash = state.overlay.list().find(({ path: other }) =>
    other.startsWith(`${path.text}/`) || path.text.startsWith(`${other}/`)
  );
  if (clash === undefined) return;
  throw new Fault(
    "conflict",
    `Cannot write "${path.text}": "${clash.path}" is staged and needs one of them to be a folder`,
  );
}

async function lookBefore(state: HostState, call: HostCall, path: NamedPath): Promise<Before> {
  const earlier = state.overlay.get(path.text);
  if (earlier !== undefined && !flag(call.args, "fresh")) {
    const seen = earlier.next === undefined ? undefined : await readStaged(state, earlier);
    return { path, seen, base: earlier.base };
  }
  const full = state.judge.writable(path).full;
  const real = about("write", path.text, () => state.files.real(full));
  if (real === undefined) {
    if (about("write", path.text, () => state.files.stat(full)) === undefined) {
      return { path, seen: undefined, base: undefined };
    }
    throw new Fault("refused", `Cannot write "${path.text}": it is a link that leads nowhere`);
  }
  if (real !== full) {
    throw new Fault("refused", `Cannot write "${path.text}": links are not written through`);
  }
  const seen = await readFolder(state, call, path);
  return { path, seen, base: seen.digest };
}

function checkBase(call: HostCall, before: Before): void {
  const expected = maybeText(call.args, "base", 64);
  if (expected === undefined || expected === before.seen?.digest) return;
  throw new Fault("conflict", `Cannot change "${before.path.text}": it is not the version "base"`, {
    detail: { path: before.path.text, expected, found: before.seen?.digest ?? null },
  });
}

async function makeChange(
  state: HostState,
  before: Before,
  next: { readonly bytes: Bytes | undefined; readonly taint: Taint },
): Promise<StagedChange> {
  const { path, seen, base } = before;
  // Both contents are stored, so that review and undo need no other source.
  if (seen !== undefined && seen.staged === undefined) await state.content.put(seen.bytes);
  const digest = next.bytes === undefined ? undefined : await state.content.put(next.bytes);
  return {
    path: path.text,
    ...(base === undefined ? {} : { base }),
    ...(digest === undefined ? {} : { next: digest }),
    bytes: next.bytes?.length ?? 0,
    ...next.taint,
    ...(seen?.staged?.executable === true && digest !== undefined ? { executable: true } : {}),
  };
}

async function applyAtOnce(
  state: HostState,
  call: HostCall,
  staged: StagedChange,
  note = "",
): Promise<HostCallAnswer> {
  const made = await applyChanges(state, { id: call.key, changes: [staged], prune: [] });
  return told(`written: ${sayChange(staged)}${note}`, {
    colour: staged.colour,
    label: staged.label,
  }, {
    staged: [staged],
    writtenBytes: staged.bytes,
    value: { made },
    ...(staged.base === undefined ? {} : { observed: staged.base }),
    ...(staged.next === undefined ? {} : { written: staged.next }),
  });
}

function sayChange(change: StagedChange): string {
  if (change.next === undefined) return `delete ${change.path}`;
  return `${change.base === undefined ? "new" : "change"} ${change.path}, ${change.bytes} bytes`;
}

function told(
  content: string,
  taint: Taint,
  rest: Partial<HostCallAnswer>,
): HostCallAnswer {
  return { content, colour: taint.colour, label: taint.label, sources: [], ...rest };
}
