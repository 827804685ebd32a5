/** `host_call`: the one function through which a plugin requests anything. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import type { HostFunction } from "../../contracts/tool/plugin.ts";
import { HOST_CALL_BYTES, HOST_CALLS } from "../../contracts/wire/wire_plugin.ts";
import { parseJson } from "../../port/mod.ts";
import { STILL_CLOCK, VALUE_LIMITS } from "./bounds.ts";
import { jsonObject, textOfFault } from "./envelope.ts";
import type { LiveCall } from "./live_call.ts";
import { type LocalPowers, serveLocally } from "./local_functions.ts";

/** The powers behind host calls. */
export interface HostCallPowers extends LocalPowers {
  /** Asks the kernel, which checks the call's grants. @throws {Fault} the kernel's */
  ask(call: string, fn: HostFunction, args: JsonObject): Promise<Json>;
}

/** One plugin's grants. */
export interface Grants {
  readonly plugin: string;
  readonly granted: ReadonlySet<HostFunction>;
}

const FUNCTIONS: Readonly<Record<HostFunction, true>> = {
  "fs.read": true,
  "fs.list": true,
  "fs.write": true,
  "fs.delete": true,
  "http.fetch": true,
  "tool.call": true,
  "model.complete": true,
  "memory.query": true,
  "secret.use": true,
  log: true,
  clock: true,
  random: true,
  progress: true,
};
const stillClock = (): number => STILL_CLOCK;
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Serves one host call: `{"fn":…,"args":{…}}` in, `{"ok":true,"value":…}` or
 * `{"ok":false,"error":{"code","message"}}` out. Never throws a Fault.
 */
export async function serveHostCall(
  parts: { readonly call: LiveCall; readonly grants: Grants; readonly powers: HostCallPowers },
  request: Uint8Array | undefined,
): Promise<string> {
  const { call, grants, powers } = parts;
  try {
    // Counted before parsing, so that a flood of invalid calls is limited, too.
    const counted = ++call.hostCalls;
    if (call.cancelled) throw new Fault("cancelled", "Cannot ask the host: the call was cancelled");
    if (counted > HOST_CALLS) {
      const why = `this call asked ${HOST_CALLS} times already`;
      throw new Fault("budgetExhausted", `Cannot ask the host: ${why}`);
    }
    const { fn, args } = parseRequest(request);
    if (!grants.granted.has(fn) && fn !== "clock") throw notGranted(fn, grants);
    const now = grants.granted.has(fn) ? powers.now : stillClock;
    const local = serveLocally(fn, args, { logs: call.logs, random: powers.random, now });
    const value = local === undefined ? await powers.ask(call.id, fn, args) : local.value;
    const text = `{"ok":true,"value":${JSON.stringify(value)}}`;
    if (text.length > HOST_CALL_BYTES) {
      throw new Fault("tooLarge", `Cannot take the answer of ${fn}: it is too long`);
    }
    return text;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    call.heard.add(error.code);
    return textOfFault(error);
  }
}

/** TRUST: from the plugin. @throws {Fault} `invalidInput`, `tooLarge` */
function parseRequest(
  request: Uint8Array | undefined,
): { readonly fn: HostFunction; readonly args: JsonObject } {
  const bad = (why: string, cause?: unknown): Fault =>
    new Fault("invalidInput", `Cannot ask the host: ${why}`, { cause });
  if (request === undefined) throw bad("the request lies in no block of memory");
  if (request.length > HOST_CALL_BYTES) {
    throw new Fault("tooLarge", `Cannot ask the host: longer than ${HOST_CALL_BYTES} bytes`);
  }
  let value: Json;
  try {
    value = parseJson(decoder.decode(request), { frameBytes: HOST_CALL_BYTES, ...VALUE_LIMITS });
  } catch (error) {
    if (error instanceof Fault && error.code === "tooLarge") throw error;
    throw bad("the request is not JSON, or repeats a key", error);
  }
  const asked = jsonObject(value);
  if (asked === undefined) throw bad("the request is not an object");
  const { fn, args = {}, ...rest } = asked;
  // This refuses a call id, too: only the host says which call asks.
  if (Object.keys(rest).length > 0) throw bad(`only "fn" and "args" can be given`);
  if (!isHostFunction(fn)) throw bad("there is no such function");
  const given = jsonObject(args);
  if (given === undefined) throw bad(`"args" is not an object`);
  return { fn, args: given };
}

function isHostFunction(fn: Json | undefined): fn is HostFunction {
  return typeof fn === "string" && Object.hasOwn(FUNCTIONS, fn);
}

function notGranted(fn: HostFunction, { plugin, granted }: Grants): Fault {
  const ask = "add it to hostFunctions in its tool.yaml and have it reviewed";
  const how = granted.has("tool.call") ? `have a tool do it (tool.call), or ${ask}` : ask;
  return new Fault("refused", `Cannot use ${fn}: plugin ${plugin} did not ask for it; ${how}`);
}
