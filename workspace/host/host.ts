/** The toolhost's answers to the kernel: `setup` once, then `call`. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Json, JsonObject } from "../../contracts/json.ts";
import type { PortHandler } from "../../contracts/port.ts";
import {
  HOST_LIST,
  HOST_READ,
  HOST_SURVEY,
  type HostCallAnswer,
  type HostCallBody,
  type SetupBody,
} from "../../contracts/wire_toolhost.ts";
import type { StagedChange } from "../../contracts/workspace.ts";
import { CHANGES_KEY, FOLLOWED_KEY, OVERLAY_KEY, UNDO } from "../_wire.ts";
import { textList } from "./_args.ts";
import { faultOf } from "./_trouble.ts";
import { patchApply } from "./apply.ts";
import { outboxPublish, scratchWrite } from "./keep.ts";
import { hostSurvey, secondNamesIn } from "./links.ts";
import { fileList, fileStat } from "./list.ts";
import { hostList, hostRead } from "./raw.ts";
import { fileRead } from "./read.ts";
import { fileSearch } from "./search.ts";
import { fileDelete, fileEdit, fileWrite } from "./stage.ts";
import { type HostPowers, type HostState, type HostTool, linksOf, makeHostState } from "./state.ts";

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

/** The part of a call's time after which it gives what it has. */
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
    // The overlay is read and written by calls: two at once could lose a change.
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

/** Takes the kernel's overlay over where the host's own differs: after a restart, or an apply elsewhere. */
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
