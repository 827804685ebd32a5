/** Opens a file after judging its path, and makes sure that both are the same file. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { LEADS_TO } from "../_wire.ts";
import { formsOf, type NamedPath } from "../path.ts";
import { about } from "./_trouble.ts";
import { type FileStat, FsTrouble, type OpenFile, type ReadFiles } from "./files.ts";
import type { Judge, Place } from "./judge.ts";
import type { LinkJudge } from "./links.ts";
import type { HostState } from "./state.ts";

/** What opening needs. */
export interface OpenParts {
  readonly files: ReadFiles;
  readonly judge: Judge;
  readonly links: LinkJudge;
  readonly told?: HostState["told"];
}

/** An open, regular file within a mount. The caller closes it. */
export interface Opened {
  readonly file: OpenFile;
  readonly stat: FileStat;
  /** The real place, which differs from the named one when a link led there. */
  readonly place: Place;
}

const KINDS = { folder: "a folder", link: "a link", other: "a pipe, socket or device" } as const;

/**
 * Finds the real place of a path, and judges it again if a link led elsewhere.
 *
 * @throws Fault `notFound`, or `refused` where the real place may not be read
 */
export function resolvePlace(parts: OpenParts, path: NamedPath): Place {
  const { files, judge } = parts;
  let named = judge.readable(path);
  let real = about("read", path.text, () => files.real(named.full));
  for (const form of real === undefined ? formsOf(path) : []) {
    const other = judge.readable(form);
    const found = tryLook(() => files.real(other.full));
    if (found !== undefined) [named, real] = [other, found];
  }
  if (real === undefined) {
    const dangling = about("read", path.text, () => files.stat(named.full))?.kind === "link";
    const why = dangling
      ? "it is a link that leads nowhere, or by an absolute path out of its mount"
      : "it does not exist";
    throw new Fault("notFound", `Cannot read "${path.text}": ${why}`);
  }
  if (real === named.full) return named;
  const found = judge.nameOf(real);
  if (found === undefined || found.mount !== path.mount) {
    throw new Fault("refused", `Cannot read "${path.text}": a link leads out of its mount`);
  }
  const place = judge.readable(found);
  if (parts.told?.followed.has(found.text) === false) {
    throw new Fault(
      "refused",
      `Cannot read "${path.text}": it is a link to "${found.text}"; name that path`,
      { detail: { [LEADS_TO]: found.text } },
    );
  }
  return place;
}

/** The result of `look`; undefined also where the call holds no lease for the path. */
function tryLook<T>(look: () => T | undefined): T | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof FsTrouble) return undefined;
    throw error;
  }
}

/**
 * Opens a regular file for reading. The opened file must be the judged one, before and after the
 * opening: bubblewrap's binds close this race on Linux, and this check narrows it everywhere.
 *
 * @throws Fault `notFound`, `refused`, `conflict` when the path changed meanwhile
 */
export function openJudged(parts: OpenParts, path: NamedPath): Opened {
  const { files } = parts;
  const place = resolvePlace(parts, path);
  const before = about("read", path.text, () => files.stat(place.full));
  if (before === undefined) {
    throw new Fault("notFound", `Cannot read "${path.text}": it does not exist`);
  }
  if (before.kind !== "file") {
    throw new Fault("refused", `Cannot read "${path.text}": it is ${KINDS[before.kind]}`);
  }
  const file = about("read", path.text, () => files.open(place.full));
  try {
    const stat = file.stat();
    const sameNow = about("read", path.text, () => isStill(files, place.full, stat));
    if (!same(before, stat) || !sameNow) {
      throw new Fault("conflict", `Cannot read "${path.text}": it changed while it was opened`);
    }
    parts.links.check(place, stat);
    return { file, stat, place };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Tells whether the path, free of links, still names the open file. */
export function isStill(files: ReadFiles, full: string, open: FileStat): boolean {
  if (files.real(full) !== full) return false;
  const now = files.stat(full);
  return now !== undefined && now.kind === "file" && same(now, open);
}

function same(a: FileStat, b: FileStat): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

/** Reads an open file. Throws Fault `tooLarge` past `max` bytes, also if the file grows. */
export function readAll(opened: Opened, name: string, max: number): Uint8Array<ArrayBuffer> {
  const tooLarge = (): Fault =>
    new Fault("tooLarge", `Cannot read "${name}": it is larger than ${max} bytes`);
  if (opened.stat.bytes > max) throw tooLarge();
  let bytes = new Uint8Array(opened.stat.bytes + 1);
  let at = 0;
  for (;;) {
    const count = opened.file.readAt(at, bytes.subarray(at));
    if (count === 0) return bytes.slice(0, at);
    at += count;
    if (at > max) throw tooLarge();
    if (at < bytes.length) continue;
    const grown = new Uint8Array(Math.min(bytes.length * 2, max + 1));
    grown.set(bytes);
    bytes = grown;
  }
}
