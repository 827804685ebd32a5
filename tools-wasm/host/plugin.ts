/** A loaded plugin: serves its calls one after another with an instance. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import type { PluginCallAnswer, PluginCallBody } from "../../contracts/wire/wire_plugin.ts";
import { KEPT_BYTES } from "./bounds.ts";
import { readEnvelope, readRaw } from "./envelope.ts";
import { type Instance, type InstanceParts, makeInstance } from "./instance.ts";
import { type LiveCall, makeLiveCall } from "./live_call.ts";
import type { Beginning } from "./rewind.ts";

/** One plugin of a host. */
export interface Plugin {
  /** Serves a call after all earlier ones. @throws {Fault} the plugin's, or a limit's */
  call(body: PluginCallBody): Promise<PluginCallAnswer>;
  /** Restores the used instance to its initial state, where that is allowed. */
  prepare(): void;
  /** Memory bytes of its retained instances. */
  wasmBytes(): number;
}

/** The parts of a plugin. */
export interface PluginParts extends InstanceParts {
  /** A script that each new instance evaluates first. */
  readonly script?: string;
  /** Exports called instead of `run`, by tool. */
  readonly exports: Readonly<Record<string, string>>;
  /** Whether calls of this tool start fresh: they see nothing of any other call. */
  readonly fresh: (tool: string) => boolean;
  /** Whether restoring memory and globals makes an instance fresh: true of Remit's own engine. */
  readonly rewinds: boolean;
  /** Called for each new instance. */
  readonly onInstance: () => void;
  /** Called when a call begins and when it has ended. */
  readonly onCall: (id: string, call: LiveCall | undefined) => void;
}

/** Bytes of an envelope around its value, and room for a plugin's error. */
const ENVELOPE_BYTES = 4_096;

/** Makes a plugin without an instance: the first call makes one. */
export function makePlugin(parts: PluginParts): Plugin {
  const { plugin } = parts.grants;
  let kept: Instance | undefined;
  /** An instance that finished a call, and the initial state of all instances. */
  let used: Instance | undefined;
  let ready: Instance | undefined;
  let beginning: Beginning | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function start(call: LiveCall): Promise<Instance> {
    parts.onInstance();
    const instance = await makeInstance(parts, call);
    if (parts.script === undefined) return instance;
    await instance.run(call, "run", inputOf("@load", { source: parts.script }));
    readEnvelope(call);
    call.output = undefined;
    return instance;
  }

  /** An instance in which nothing has run. */
  async function fresh(call: LiveCall): Promise<Instance> {
    prepare();
    const waiting = ready;
    ready = undefined;
    if (waiting !== undefined) return waiting;
    const made = await start(call);
    if (parts.rewinds) beginning ??= made.beginning();
    return made;
  }

  function prepare(): void {
    if (used !== undefined && beginning !== undefined && used.rewind(beginning)) ready = used;
    used = undefined;
  }

  async function serve(call: LiveCall, body: PluginCallBody): Promise<PluginCallAnswer> {
    if (call.cancelled) throw new Fault("cancelled", `Cannot run ${call.label}: it was cancelled`);
    const once = parts.fresh(body.tool);
    const instance = once ? await fresh(call) : kept ?? await start(call);
    if (!once) kept = undefined;
    const name = Object.hasOwn(parts.exports, body.tool) ? parts.exports[body.tool] : undefined;
    try {
      await instance.run(call, name ?? "run", body.raw ?? inputOf(body.tool, body.args));
      const value = body.raw === undefined ? readEnvelope(call) : readRaw(call);
      return { value: within(call, value, body.bytes), logs: call.logs.lines() };
    } finally {
      // INVARIANT: an interrupted instance never runs again (test: "a kept instance …").
      const whole = !call.discard && call.fault === undefined;
      if (once && whole && parts.rewinds) used = instance;
      if (!once && whole && instance.wasmBytes() <= KEPT_BYTES) kept = instance;
    }
  }

  return Object.freeze({
    call(body: PluginCallBody): Promise<PluginCallAnswer> {
      const label = `"${body.tool}" of plugin "${plugin}"`;
      const outputBytes = body.bytes + ENVELOPE_BYTES;
      const call = makeLiveCall({ id: body.id, label, outputBytes });
      parts.onCall(body.id, call);
      const answer = turn.then(() => serve(call, body))
        .catch((error) => Promise.reject(withLogs(error, call.logs.lines())))
        .finally(() => parts.onCall(body.id, undefined));
      turn = answer.catch(() => undefined);
      return answer;
    },
    prepare,
    wasmBytes: () => (kept?.wasmBytes() ?? 0) + ((ready ?? used)?.wasmBytes() ?? 0),
  });
}

/** Attaches the logs of a failed call, which explain the failure. */
function withLogs(error: unknown, logs: readonly string[]): unknown {
  if (!(error instanceof Fault) || logs.length === 0) return error;
  return new Fault(error.code, error.message, { detail: { logs }, cause: error });
}

function inputOf(op: string, args: Json): string {
  return JSON.stringify({ v: 1, op, args });
}

const encoder = new TextEncoder();

/** @throws {Fault} `tooLarge` when the value has more than `bytes` bytes as JSON text */
function within(call: LiveCall, value: Json, bytes: number): Json {
  // A number may be written longer than it was read: 1e20.
  const max = 6 * (call.output?.length ?? 0);
  if (max <= bytes || encoder.encode(JSON.stringify(value)).length <= bytes) return value;
  throw new Fault("tooLarge", `Cannot give the result of ${call.label}: over ${bytes} bytes`);
}
