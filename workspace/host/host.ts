/** The toolhost's answers to the kernel: `setup` once, then `call`. Used by main.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import type { PortHandler } from "../../contracts/base/port.ts";
import {
  HOST_LIST,
  HOST_READ,
  HOST_READ_BYTES,
  HOST_SURVEY,
  type HostCallAnswer,
  type HostCallBody,
  type SetupBody,
} from "../../contracts/wire/wire_toolhost.ts";
import type { StagedChange } from "../../contracts/tool/workspace.ts";
import { CHANGES_KEY, FOLLOWED_KEY, OVERLAY_KEY, UNDO } from "../_wire.ts";
import { count, flag, maybeText, pathOf, text, textList } from "./_args.ts";
import { about, faultOf } from "./_trouble.ts";
import { patchApply } from "./apply.ts";
import { hostSurvey, secondNamesIn } from "./links.ts";
import { fileList, fileStat, LIST_LIMIT } from "./list.ts";
import { fileRead } from "./read.ts";
import { fileSearch } from "./search.ts";
import { fileDelete, fileEdit, fileWrite } from "./stage.ts";
import {
  type HostCall,
  type HostPowers,
  type HostState,
  type HostTool,
  linksOf,
  makeHostState,
} from "./state.ts";
import { checkNewName, type NamedPath, SCRATCH } from "../path.ts";
import { encode } from "./encoding.ts";
import { CLEAN, mix, sourceOf, type Taint } from "./taint.ts";
import { readOpened, readSeen, readStaged, stagedAt, taintOfName, WHOLE_LIMIT } from "./view.ts";
import { openJudged } from "./open.ts";
import { wholeOf } from "./content.ts";
import type { OpenFile } from "./files.ts";
import { type Met, nothingLeftOut, walk } from "./walk.ts";

// `fs.read` and `fs.list` of plugins: bytes and entries, without text for a model.

const LAST_BYTE = Number.MAX_SAFE_INTEGER;

interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of the whole file. */
  readonly size: number;
  readonly taint: Taint;
}

/**
 * Reads a piece of a file from byte `from`: `{text|base64, bytes, next, end}`. As `text`, a piece
 * ends with a whole character; bytes that are not UTF-8 become U+FFFD and set `lossy`.
 */
async function hostRead(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const path = pathOf(call.args);
  // Offsets begin at 0, while `count` begins at 1.
  const from = (call.args["from"] ?? 0) === 0 ? 0 : count(call.args, "from", 1, LAST_BYTE);
  const max = count(call.args, "bytes", HOST_READ_BYTES, HOST_READ_BYTES);
  const encoding = maybeText(call.args, "encoding", 16) ?? "text";
  if (encoding !== "text" && encoding !== "base64") {
    throw new Fault("invalidArguments", 'Cannot use argument "encoding": it is "text" or "base64"');
  }
  const { bytes, size, taint } = await pieceOf(state, call, path, { from, max });
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
  range: { readonly from: number; readonly max: number },
): Promise<Piece> {
  const { from, max } = range;
  const cut = (bytes: Uint8Array<ArrayBuffer>, taint: Taint): Piece => ({
    bytes: bytes.subarray(from, from + max),
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
    // Taints of contents are known for whole files only.
    if (stat.bytes <= WHOLE_LIMIT) {
      const seen = await readOpened(state, opened, path);
      return cut(seen.bytes, seen.taint);
    }
    const part: Pick<OpenFile, "readAt"> = {
      readAt: (at, into) => file.readAt(from + at, into),
    };
    const bytes = wholeOf(part, Math.max(0, Math.min(max, stat.bytes - from)));
    const taint = mix(state.taints.ofPath(place.mount, place.path.parts), taintOfName(state, path));
    return { bytes, size: stat.bytes, taint };
  } finally {
    opened.file.close();
  }
}

/** The end of the last whole character, if the bytes are UTF-8. */
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

/** Lists a folder, or all mounts: `{entries: [{path, kind, bytes}], cut}`. */
function hostList(state: HostState, call: HostCall): HostCallAnswer {
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

// `scratch_write` and `outbox_publish`: contents that never enter a mount.

/** Writes a file of the scratch space, or appends to it, within the quota. */
async function scratchWrite(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const path = pathOf(call.args);
  if (path.mount !== SCRATCH) {
    throw new Fault("invalidArguments", `Cannot write "${path.text}": give a path in ${SCRATCH}/`);
  }
  checkNewName(path);
  const all = state.overlay.list().filter((change) => change.path.startsWith(`${SCRATCH}/`));
  const clash = all.find(({ path: other }) =>
    other.startsWith(`${path.text}/`) || path.text.startsWith(`${other}/`)
  );
  if (clash !== undefined) {
    throw new Fault("conflict", `Cannot write "${path.text}": "${clash.path}" is in the way`);
  }
  const old = state.overlay.get(path.text);
  const written = encode(text(call.args, "content"), "utf-8");
  const earlier = flag(call.args, "append") && old !== undefined
    ? await readStaged(state, old)
    : undefined;
  const bytes = new Uint8Array((earlier?.bytes.length ?? 0) + written.length);
  bytes.set(earlier?.bytes ?? []);
  bytes.set(written, earlier?.bytes.length ?? 0);
  const used = all.reduce((sum, change) => sum + (change === old ? 0 : change.bytes), bytes.length);
  if (used > state.scratchQuota || all.length >= 10_000) {
    throw new Fault(
      "budgetExhausted",
      `Cannot write "${path.text}": scratch space holds at most ${state.scratchQuota} bytes`,
    );
  }
  const taint = mix(call.caller, earlier?.taint ?? {});
  const next = await state.scratch.put(bytes);
  const change: StagedChange = { path: path.text, next, bytes: bytes.length, ...taint };
  state.overlay.put(change);
  return {
    content: `written: ${path.text}, ${bytes.length} bytes`,
    ...taint,
    sources: [],
    staged: [change],
    written: next,
    writtenBytes: written.length,
  };
}

/** Stores a file's content for the outbox. */
async function outboxPublish(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const path = pathOf(call.args);
  const seen = await readSeen(state, call, path);
  await state.content.put(seen.bytes);
  const taint = mix(seen.taint, call.caller);
  return {
    content: `put aside for the outbox: ${path.text}, ${seen.bytes.length} bytes`,
    ...taint,
    sources: [],
    value: { digest: seen.digest, bytes: seen.bytes.length },
    observed: seen.digest,
    writtenBytes: seen.bytes.length,
  };
}

const TOOLS: ReadonlyMap<string, HostTool> = new Map<string, HostTool>([
  ["file_list", fileList],
  ["file_read", fileRead],
  ["file_search", fileSearch],
  ["file_stat", fileStat],
  ["file_edit", fileEdit],
  ["file_write", fileWrite],
  ["file_delete", fileDelete],
  ["scratch_write", scratchWrite],
  ["outbox_publish", outboxPublish],
  ["patch_apply", patchApply],
  [UNDO, patchApply],
  [HOST_READ, hostRead],
  [HOST_LIST, hostList],
  [HOST_SURVEY, hostSurvey],
]);

/** The share of a call's time after which a call returns its partial result. */
const PART_OF_TIME = 0.8;

/** Makes the handler of one toolhost's port. Calls run one after another, in order of arrival. */
export function makeHost(powers: HostPowers): PortHandler {
  let state: HostState | undefined;
  const running = new Map<string, AbortController>();
  let turn: Promise<unknown> = Promise.resolve();

  const run = async (body: HostCallBody): Promise<HostCallAnswer> => {
    if (state === undefined) {
      throw new Fault("badFrame", "Cannot call a tool: setup came not first");
    }
    const tool = TOOLS.get(body.tool);
    if (tool === undefined) {
      throw new Fault("unknownTool", `Cannot call "${body.tool}": no such tool`);
    }
    const abort = new AbortController();
    if (running.has(body.id)) throw new Fault("badFrame", "Cannot call a tool: the id is in use");
    running.set(body.id, abort);
    const told = {
      secondNames: secondNamesIn(body.args),
      followed: new Set(textList(body.args, FOLLOWED_KEY)),
    };
    const now: HostState = { ...state, told };
    const until = powers.now() + body.deadlineMs * PART_OF_TIME;
    // Calls read and write the overlay: two at once could lose a change.
    const mine = turn.then(async () => {
      abort.signal.throwIfAborted();
      await synchronize(now, body.args);
      now.met.clear();
      const answer = await tool(now, {
        tool: body.tool,
        args: body.args,
        bytes: Math.max(256, body.bytes),
        key: body.key,
        caller: { colour: body.colour, label: body.label },
        signal: abort.signal,
        links: linksOf(now),
        until,
      });
      return now.met.size === 0 ? answer : { ...answer, contents: [...now.met] };
    });
    turn = mine.catch(() => undefined);
    try {
      return await mine;
    } catch (error) {
      if (abort.signal.aborted) {
        throw new Fault("cancelled", `Cannot finish ${body.tool}: it was cancelled`);
      }
      throw faultOf(error, "use", body.tool);
    } finally {
      running.delete(body.id);
    }
  };

  return Object.freeze({
    async ask(op: string, body: Json): Promise<Json> {
      // TRUST: from the kernel, whose frames the port has parsed.
      if (op === "setup") {
        if (state !== undefined) throw new Fault("badFrame", "Cannot set up: it was done before");
        state = makeHostState(body as unknown as SetupBody, powers);
        return null;
      }
      if (op === "call") return await run(body as unknown as HostCallBody) as unknown as JsonObject;
      throw new Fault("badFrame", `Cannot answer "${op}": a toolhost knows setup and call`);
    },
    tell(op: string, body: Json): void {
      if (op !== "cancel" || body === null || typeof body !== "object" || !("id" in body)) return;
      running.get(String(body["id"]))?.abort();
    },
  });
}

/** Replaces a host's overlay that differs from the kernel's: after a restart or another apply. */
async function synchronize(state: HostState, args: JsonObject): Promise<void> {
  const changes = args[CHANGES_KEY], digest = args[OVERLAY_KEY];
  if (Array.isArray(changes)) {
    state.overlay.replace(changes as unknown as readonly StagedChange[]);
  }
  if (digest === undefined) return;
  const own = await state.sha256(new TextEncoder().encode(state.overlay.canonical()));
  if (own === digest) return;
  throw new Fault("conflict", "Cannot call a tool: the staged changes are not the kernel's", {
    detail: { stale: true },
  });
}
