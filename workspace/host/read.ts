/** `file_read`: a range of lines, within a byte budget, with the encoding named. Used by host.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type { HostCallAnswer } from "../../contracts/wire/wire_toolhost.ts";
import { type NamedPath, SCRATCH } from "../path.ts";
import { count, flag, pathOf } from "./_args.ts";
import { headBytes } from "./_cut.ts";
import { decode, hexHead, isBinary } from "./encoding.ts";
import { type Opened, openJudged } from "./open.ts";
import type { HostCall, HostState } from "./state.ts";
import { mix, sourceOf, type Taint } from "./taint.ts";
import { readOpened, readSeen, type Seen, stagedAt, taintOfName, WHOLE_LIMIT } from "./view.ts";

/** Maximum number of lines counted in a file. */
const LINE_LIMIT = 100_000_000;
const WINDOW = 1024 * 1024;
/** Windows between two checks for a cancel: each check costs a millisecond. */
const BREATH = 16;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Reads a file for an agent. */
export async function fileRead(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const path = pathOf(call.args);
  const from = count(call.args, "from", 1, LINE_LIMIT);
  const to = count(call.args, "to", LINE_LIMIT, LINE_LIMIT);
  if (to < from) throw new Fault("invalidArguments", `Cannot read lines: "to" is before "from"`);
  const change = flag(call.args, "fresh") ? undefined : stagedAt(state, call, path);
  if (change !== undefined || path.mount === SCRATCH) {
    return answerSeen(call, { path, range: { from, to }, seen: await readSeen(state, call, path) });
  }
  const opened = openJudged({ ...state, links: call.links }, path);
  try {
    if (opened.stat.bytes > WHOLE_LIMIT) {
      return await readWindows(state, call, { path, opened, range: { from, to } });
    }
    const seen = await readOpened(state, opened, path);
    return answerSeen(call, { path, range: { from, to }, seen });
  } finally {
    opened.file.close();
  }
}

function answerSeen(
  call: HostCall,
  what: { readonly path: NamedPath; readonly range: Range; readonly seen: Seen },
): HostCallAnswer {
  const { path, range: { from, to }, seen } = what;
  const about = { path, taint: seen.taint, observed: String(seen.digest) };
  const facts = { bytes: seen.bytes.length, staged: seen.staged !== undefined };
  const decoded = decode(seen.bytes);
  if (!("text" in decoded)) return notText(seen.bytes, decoded.encoding, { ...about, facts });
  const mark = decoded.text.startsWith("\ufeff") ? 1 : 0;
  const lines = splitLines(decoded.text.slice(mark));
  const chosen = lines.slice(from - 1, to);
  const shown = shorten(chosen, Math.max(64, call.bytes - 128));
  const last = from - 1 + shown.lines;
  const end = last >= lines.length;
  const wanted = Math.min(to, lines.length);
  const note = last < wanted || shown.cutLine
    ? `\n[cut: lines ${from} to ${last} of ${lines.length}; go on with from: ${last + 1}]`
    : "";
  return answer(shown.text + note, {
    ...about,
    value: {
      ...facts,
      path: path.text,
      from,
      to: last,
      lines: lines.length,
      end,
      encoding: decoded.encoding,
      digest: about.observed,
    },
  });
}

/** Lines with their own line ends. */
function splitLines(text: string): string[] {
  const lines = text.split(/(?<=\n)/);
  return lines.length === 1 && lines[0] === "" ? [] : lines;
}

function shorten(
  lines: readonly string[],
  max: number,
): { text: string; lines: number; cutLine: boolean } {
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const [index, line] of lines.entries()) {
    bytes += encoder.encode(line).length;
    if (bytes <= max) continue;
    if (index > 0) return { text: lines.slice(0, index).join(""), lines: index, cutLine: false };
    return { text: headBytes(line, max), lines: 1, cutLine: true };
  }
  return { text: lines.join(""), lines: lines.length, cutLine: false };
}

interface About {
  readonly path: NamedPath;
  readonly taint: Taint;
  readonly observed: string;
}

function answer(content: string, about: About & { readonly value: JsonObject }): HostCallAnswer {
  return {
    content,
    ...about.taint,
    sources: [sourceOf(about.path.text, about.taint)],
    value: about.value,
    observed: about.observed,
  };
}

function notText(
  head: Uint8Array,
  encoding: string,
  about: About & { readonly facts: JsonObject },
): HostCallAnswer {
  const guess = encoding === "latin-1" ? "8-bit text of an unknown encoding" : "binary";
  return answer(`[not shown as text: ${guess}; its first bytes are]\n${hexHead(head)}`, {
    ...about,
    value: { ...about.facts, path: about.path.text, encoding, digest: about.observed },
  });
}

/** The start of the line `wanted` lines further, and how many lines end before it. */
function startOf(bytes: Uint8Array, wanted: number): readonly [start: number, passed: number] {
  let start = 0, passed = 0;
  while (passed < wanted) {
    const at = bytes.indexOf(10, start);
    if (at < 0) return [bytes.length, passed];
    start = at + 1;
    passed++;
  }
  return [start, passed];
}

/** Reads a file too large for memory: UTF-8 only, window by window, within the budget. */
async function readWindows(
  state: HostState,
  call: HostCall,
  what: { readonly path: NamedPath; readonly opened: Opened; readonly range: Range },
): Promise<HostCallAnswer> {
  const { path, opened, range } = what;
  const { stat, place } = opened;
  const taint = mix(
    state.taints.ofPath(place.mount, place.path.parts),
    taintOfName(state, path),
  );
  // A file this large cannot be staged, so its content has no recorded taint.
  const observed = `${stat.bytes}:${stat.modifiedMs}`;
  const about = { path, taint, observed };
  const facts = { bytes: stat.bytes, staged: false };
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const window = new Uint8Array(WINDOW);
  let line = 1, out = "", full = false, at = 0;
  for (let windows = 1; !full && line <= range.to; windows++) {
    const length = opened.file.readAt(at, window);
    if (length === 0) break;
    const bytes = window.subarray(0, length);
    if (isBinary(bytes)) return notText(bytes.subarray(0, 128), "binary", { ...about, facts });
    at += length;
    // Bytes before the range are counted, not decoded: a line end is one byte of UTF-8.
    const [start, passed] = startOf(bytes, range.from - line);
    line += passed;
    if (line >= range.from) {
      let part;
      try {
        part = decoder.decode(bytes.subarray(start), { stream: true });
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        return notText(bytes.subarray(0, 128), "binary", { ...about, facts });
      }
      for (const piece of part.split(/(?<=\n)/)) {
        if (line <= range.to) out += piece;
        if (piece.endsWith("\n")) line++;
      }
      full = out.length > call.bytes;
    }
    if (windows % BREATH !== 0) continue;
    await state.breathe();
    call.signal.throwIfAborted();
    if (!full && line < range.from && state.now() > call.until) {
      throw new Fault(
        "timedOut",
        `Cannot read line ${range.from} of "${path.text}": the time was up at line ${line}, after ` +
          `${at} of ${stat.bytes} bytes; find the lines with file_search`,
      );
    }
  }
  const text = headBytes(out, Math.max(64, call.bytes - 128));
  const note = text.length < out.length || full
    ? "\n[cut: ask for fewer lines with from and to]"
    : "";
  return answer(text + note, {
    ...about,
    value: { ...facts, path: path.text, from: range.from, encoding: "utf-8", end: note === "" },
  });
}
