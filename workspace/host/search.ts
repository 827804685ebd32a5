/**
 * `file_search`: literal text, line by line. There are no patterns, so no search can run for ever.
 * Used by host.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { type HostCallAnswer, SECOND_NAMES } from "../../contracts/wire/wire_toolhost.ts";
import { type Globs, makeGlobs } from "../glob.ts";
import { type NamedPath, parsePath, SCRATCH } from "../path.ts";
import { count, flag, maybeText, text } from "./_args.ts";
import { fitLines, nameLine } from "./_cut.ts";
import { digestBytes, wholeOf } from "./content.ts";
import { decode, isBinary, linesIn } from "./encoding.ts";
import { type FileStat, FsTrouble, type OpenFile } from "./files.ts";
import { isStill, openJudged, resolvePlace } from "./open.ts";
import type { HostCall, HostState } from "./state.ts";
import { CLEAN, mix, sourceOf, type Taint } from "./taint.ts";
import { readSeen, readStaged, stagedAt, taintOfName, WHOLE_LIMIT } from "./view.ts";
import { type Met, nothingLeftOut, sayLeftOut, walk } from "./walk.ts";

const WINDOW = 1024 * 1024;
/** Files, and windows of one file, between two checks for a cancel, a millisecond each. */
const BREATH = { files: 1_024, windows: 16 };

interface Found {
  readonly hits: readonly Hit[];
  readonly taint: Partial<Taint>;
  /** Why the file was searched only in part. */
  readonly part?: "binary" | "time";
}

/** Searches a folder or a file. */
export async function fileSearch(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const needle = makeNeedle(text(call.args, "query", 1_000), flag(call.args, "ignoreCase"));
  const named = maybeText(call.args, "path");
  const glob = maybeText(call.args, "glob", 256);
  const limit = count(call.args, "limit", 100, 2_000);
  const globs = glob === undefined ? undefined : makeGlobs([glob], { anyCase: false });
  const left = nothingLeftOut();
  const lines: string[] = [], hitFiles: string[] = [];
  const buffer = new Uint8Array(WINDOW);
  let taint: Taint = CLEAN, searched = 0, more = false, binary = 0, stopped = "";
  const starts = named === undefined
    ? state.judge.mounts.filter((mount) => mount.apart !== true).map((mount) =>
      parsePath(mount.name)
    )
    : [parsePath(named)];

  const take = (path: string, found: Found): void => {
    if (found.part === "binary") binary++;
    if (found.part === "time") stopped = path;
    if (found.hits.length === 0) return;
    if (hitFiles.length < 50) hitFiles.push(path);
    taint = mix(taint, found.taint);
    for (const hit of found.hits) lines.push(`${nameLine(path)}:${hit.line}: ${hit.text}`);
  };

  for (const start of starts) {
    taint = mix(taint, start.mount === SCRATCH ? CLEAN : taintOfName(state, start));
    if (start.rel !== "" && isFile(state, call, start.text)) {
      searched++;
      take(start.text, await inNamed(state, call, { path: start, needle, buffer, limit }));
      continue;
    }
    for (const met of walk(state, call, { start, depth: 64, left })) {
      if (lines.length >= limit) {
        more = true;
        break;
      }
      if (stopped !== "") break;
      if (met.kind !== "file" || !fits(globs, met, start.parts.length)) continue;
      if (++searched % BREATH.files === 0) {
        await state.breathe();
        call.signal.throwIfAborted();
        if (state.now() > call.until) stopped = met.text;
      }
      const found = met.change === undefined
        ? await inFolder(state, call, { met, needle, buffer, limit })
        : await inStaged(state, met, needle, limit);
      if (found === undefined) left.unreadable++;
      else take(met.text, found);
      // A searched file without hits reveals something, too.
      if (met.mount !== undefined) taint = mix(taint, state.taints.ofPath(met.mount, met.parts));
    }
  }
  if (lines.length > limit) more = true;
  const shown = fitLines(lines.slice(0, limit), call.bytes - 200);
  const notes = [
    ...(more ? [`[more than ${limit} lines: narrow path or glob]`] : []),
    ...(stopped === "" ? [] : [
      `[the time was up at ${
        nameLine(stopped)
      } after ${searched} files; what comes after it was not ` +
      "searched: narrow path or glob]",
    ]),
    ...sayLeftOut(left, "searched"),
    ...(binary > 0 ? [`[${binary} binary files were passed over]`] : []),
    ...(lines.length === 0 ? [`[nothing found in ${searched} files]`] : []),
  ];
  return {
    content: [...(shown.text === "" ? [] : [shown.text]), ...notes].join("\n"),
    ...taint,
    sources: (hitFiles.length > 0 ? hitFiles : starts.map((start) => start.text))
      .map((path) => sourceOf(path, taint)),
    value: {
      lines: Math.min(lines.length, limit),
      searched,
      binary,
      cut: more || left.cut || left.deep > 0 || stopped !== "",
    },
  };
}

function fits(globs: Globs | undefined, met: Met, above: number): boolean {
  return globs === undefined || globs.matches(met.parts) || globs.matches(met.parts.slice(above));
}

function isFile(state: HostState, call: HostCall, name: string): boolean {
  const change = state.overlay.get(name);
  if (change !== undefined) return true;
  const path = parsePath(name);
  if (path.mount === SCRATCH) return false;
  try {
    const place = resolvePlace({ ...state, links: call.links }, path);
    return state.files.stat(place.full)?.kind === "file";
  } catch (error) {
    if (error instanceof Fault && error.code === "notFound") return false;
    throw error;
  }
}

/** Searches a named file: as the agent sees it, or by windows where it is too large to hold. */
async function inNamed(
  state: HostState,
  call: HostCall,
  what: { path: NamedPath; needle: Needle; buffer: Uint8Array<ArrayBuffer>; limit: number },
): Promise<Found> {
  const { path, needle, limit } = what;
  if (stagedAt(state, call, path) === undefined && path.mount !== SCRATCH) {
    const opened = openJudged({ ...state, links: call.links }, path);
    try {
      if (opened.stat.bytes > WHOLE_LIMIT) {
        const { hits, part } = await inWindows(state, call, { ...what, file: opened.file });
        return { hits, taint: taintOfName(state, path), ...(part === undefined ? {} : { part }) };
      }
    } finally {
      opened.file.close();
    }
  }
  const seen = await readSeen(state, call, path);
  return inBytes(needle, seen.bytes, { limit, taint: seen.taint });
}

function inBytes(
  needle: Needle,
  bytes: Uint8Array,
  { limit, taint }: { readonly limit: number; readonly taint: Partial<Taint> },
): Found {
  const part = isBinary(bytes) ? { part: "binary" } as const : {};
  return { hits: "part" in part ? [] : linesWith(needle, bytes, limit), taint, ...part };
}

async function inStaged(
  state: HostState,
  met: Met,
  needle: Needle,
  limit: number,
): Promise<Found> {
  if (met.change === undefined) return { hits: [], taint: {} };
  const seen = await readStaged(state, met.change);
  return inBytes(needle, seen.bytes, { limit, taint: seen.taint });
}

/** Opens each file once; all further checks apply only to files with hits. */
async function inFolder(
  state: HostState,
  call: HostCall,
  what: { met: Met; needle: Needle; buffer: Uint8Array<ArrayBuffer>; limit: number },
): Promise<Found | undefined> {
  const { met, needle, buffer, limit } = what;
  if (met.full === undefined || met.mount === undefined) return undefined;
  let stat: FileStat, found: Windows, taint: Partial<Taint> = {};
  const place = { path: parsePath(met.text), mount: met.mount, full: met.full };
  try {
    const file = state.files.open(met.full);
    try {
      found = await inWindows(state, call, { file, needle, buffer, limit });
      if (found.hits.length === 0) return { ...found, taint: {} };
      stat = file.stat();
      if (stat.bytes <= WHOLE_LIMIT) {
        const digest = await digestBytes(state.sha256, wholeOf(file, stat.bytes));
        state.met.add(digest);
        taint = state.exports.of(place, digest);
      }
    } finally {
      file.close();
    }
    if (stat.kind !== "file" || !isStill(state.files, met.full, stat)) return undefined;
    call.links.check(place, stat);
  } catch (error) {
    // Whether the file is a second name of a never-listed one must be known before hits are
    // reported.
    if (error instanceof Fault && error.detail?.[SECOND_NAMES] !== undefined) throw error;
    if (error instanceof FsTrouble || error instanceof Fault) return undefined;
    throw error;
  }
  return { ...found, taint };
}

/** The hits in a file read window by window. */
type Windows = Pick<Found, "hits" | "part">;

/** Reads a file by windows that end with a line, until the file is not text or the time is up. */
async function inWindows(
  state: HostState,
  call: HostCall,
  what: { file: OpenFile; needle: Needle; buffer: Uint8Array<ArrayBuffer>; limit: number },
): Promise<Windows> {
  const { file, needle, buffer, limit } = what;
  let hits: Hit[] = [], at = 0, line = 1, kept = 0;
  for (let windows = 1;; windows++) {
    const length = kept + file.readAt(at, buffer.subarray(kept));
    at += length - kept;
    const last = length < buffer.length;
    const whole = buffer.subarray(0, length);
    // A disk image, a database, a video: nothing in it is a line.
    if (isBinary(whole)) return { hits, part: "binary" };
    const newline = last ? -1 : whole.lastIndexOf(10);
    const end = newline < 0 ? length : newline + 1;
    hits = hits.concat(linesWith(needle, buffer.subarray(0, end), limit - hits.length, line));
    if (last || hits.length >= limit) return { hits };
    line += linesIn(buffer.subarray(0, end));
    buffer.copyWithin(0, end, length);
    kept = length - end;
    if (windows % BREATH.windows !== 0) continue;
    await state.breathe();
    call.signal.throwIfAborted();
    if (state.now() > call.until) return { hits, part: "time" };
  }
}

// Finding a literal text in bytes, line by line.

/** The text to find. */
interface Needle {
  readonly query: string;
  readonly ignoreCase: boolean;
}

/** One line that holds the needle. */
interface Hit {
  /** From 1. */
  readonly line: number;
  /** The line, or the part of a long line around the needle. */
  readonly text: string;
}

const SHOWN = 240;

/** Makes a needle. Throws Fault `invalidArguments` for an empty text or one of several lines. */
function makeNeedle(query: string, ignoreCase: boolean): Needle {
  if (query === "" || query.includes("\n")) {
    throw new Fault("invalidArguments", "Cannot search: the query must be one line of text");
  }
  return { query: ignoreCase ? query.toLowerCase() : query, ignoreCase };
}

const LOOSE = new TextDecoder();

/** The lines of a text that hold the needle, at most `max`. */
function linesWith(
  needle: Needle,
  bytes: Uint8Array,
  max: number,
  firstLine = 1,
): Hit[] {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  let text: string;
  if (wide) {
    const decoded = decode(bytes);
    if (!("text" in decoded)) return [];
    text = decoded.text;
  } else {
    text = LOOSE.decode(bytes);
  }
  const fold = (given: string): string => needle.ignoreCase ? given.toLowerCase() : given;
  if (!fold(text).includes(needle.query)) return [];
  const hits: Hit[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const at = fold(line).indexOf(needle.query);
    if (at < 0) continue;
    if (hits.push({ line: firstLine + index, text: excerpt(line, at) }) >= max) break;
  }
  return hits;
}

function excerpt(line: string, at: number): string {
  const clean = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (clean.length <= SHOWN) return clean;
  const from = Math.max(0, Math.min(at - 60, clean.length - SHOWN));
  const part = clean.slice(from, from + SHOWN);
  return `${from > 0 ? "…" : ""}${part}${from + SHOWN < clean.length ? "…" : ""}`;
}
