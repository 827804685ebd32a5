/** `fs.read` and `fs.list` of plugins: bytes and entries, without the words that a model needs. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Json } from "../../contracts/json.ts";
import { HOST_READ_BYTES, type HostCallAnswer } from "../../contracts/wire_toolhost.ts";
import { type NamedPath, SCRATCH } from "../path.ts";
import { count, maybeText, pathOf } from "./_args.ts";
import { about } from "./_trouble.ts";
import { LIST_LIMIT } from "./list.ts";
import { openJudged } from "./open.ts";
import type { HostCall, HostState } from "./state.ts";
import { CLEAN, mix, sourceOf, type Taint } from "./taint.ts";
import { readOpened, readStaged, stagedAt, taintOfName, WHOLE_LIMIT } from "./view.ts";
import { type Met, nothingLeftOut, walk } from "./walk.ts";

const LAST_BYTE = Number.MAX_SAFE_INTEGER;

interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of the whole file. */
  readonly size: number;
  readonly taint: Taint;
}

/**
 * A piece of a file from byte `from`: `{text|base64, bytes, next, end}`. As `text`, a piece ends
 * with a whole character, and bytes that are no UTF-8 become U+FFFD and `lossy` is set.
 */
export async function hostRead(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const path = pathOf(call.args);
  // Bytes count from 0, and `count` from 1.
  const from = (call.args["from"] ?? 0) === 0 ? 0 : count(call.args, "from", 1, LAST_BYTE);
  const most = count(call.args, "bytes", HOST_READ_BYTES, HOST_READ_BYTES);
  const encoding = maybeText(call.args, "encoding", 16) ?? "text";
  if (encoding !== "text" && encoding !== "base64") {
    throw new Fault("invalidArguments", 'Cannot use argument "encoding": it is "text" or "base64"');
  }
  const { bytes, size, taint } = await pieceOf(state, call, path, { from, most });
  const about = { path, taint };
  if (encoding === "base64") {
    const next = from + bytes.length;
    return told(about, { base64: bytes.toBase64(), bytes: size, next, end: next >= size });
  }
  const whole = from + bytes.length >= size ? bytes : bytes.subarray(0, charactersEnd(bytes));
  const next = from + whole.length;
  return told(about, { ...decoded(whole), bytes: size, next, end: next >= size });
}

async function pieceOf(
  state: HostState,
  call: HostCall,
  path: NamedPath,
  range: { readonly from: number; readonly most: number },
): Promise<Piece> {
  const { from, most } = range;
  const cut = (bytes: Uint8Array<ArrayBuffer>, taint: Taint): Piece => ({
    bytes: bytes.subarray(from, from + most),
    size: bytes.length,
    taint,
  });
  const change = stagedAt(state, call, path);
  if (change !== undefined) {
    const seen = await readStaged(state, change);
    return cut(seen.bytes, seen.taint);
  }
  if (path.mount === SCRATCH) {
    throw new Fault("notFound", `Cannot read "${path.text}": it does not exist`);
  }
  const opened = openJudged({ ...state, links: call.links }, path);
  try {
    const { stat, place, file } = opened;
    // What is known is known of whole contents.
    if (stat.bytes <= WHOLE_LIMIT) {
      const seen = await readOpened(state, opened, path);
      return cut(seen.bytes, seen.taint);
    }
    const bytes = new Uint8Array(Math.max(0, Math.min(most, stat.bytes - from)));
    let at = 0;
    while (at < bytes.length) {
      const length = file.readAt(from + at, bytes.subarray(at));
      if (length === 0) break;
      at += length;
    }
    const taint = mix(state.taints.ofPath(place.mount, place.path.parts), taintOfName(state, path));
    return { bytes: bytes.subarray(0, at), size: stat.bytes, taint };
  } finally {
    opened.file.close();
  }
}

/** Where the last whole character ends, if the text is UTF-8. */
function charactersEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return back >= length ? bytes.length : bytes.length - back;
  }
  return bytes.length;
}

function decoded(bytes: Uint8Array): { readonly text: string; readonly lossy?: true } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), lossy: true };
  }
}

/** The entries of a folder, or of all mounts: `{entries: [{path, kind, bytes}], cut}`. */
export function hostList(state: HostState, call: HostCall): HostCallAnswer {
  const start = pathOf(call.args);
  const depth = count(call.args, "depth", 1, 64);
  const limit = count(call.args, "limit", LIST_LIMIT, LIST_LIMIT);
  const left = nothingLeftOut();
  const entries: Json[] = [];
  let more = false;
  let taint = start.mount === SCRATCH ? mix(CLEAN, call.caller) : taintOfName(state, start);
  for (const met of walk(state, call, { start, depth, left })) {
    call.signal.throwIfAborted();
    if (entries.length >= limit) {
      more = true;
      break;
    }
    entries.push({ path: met.text, kind: met.kind, bytes: bytesOf(state, met) });
    if (met.mount !== undefined) taint = mix(taint, state.taints.ofPath(met.mount, met.parts));
    if (met.change !== undefined) taint = mix(taint, met.change);
  }
  return told({ path: start, taint }, {
    entries,
    cut: more || left.cut || left.deep > 0 || left.unreadable > 0,
  });
}

function bytesOf(state: HostState, { kind, change, full, text }: Met): number {
  if (change !== undefined) return change.bytes;
  if (kind !== "file" || full === undefined) return 0;
  return about("list", text, () => state.files.stat(full))?.bytes ?? 0;
}

function told(
  { path, taint }: { readonly path: NamedPath; readonly taint: Taint },
  value: Json,
): HostCallAnswer {
  return { content: "", ...taint, sources: [sourceOf(path.text, taint)], value };
}
