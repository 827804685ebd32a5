/**
 * One plugin host: a process without any permission, its loaded plugins, and its running calls. Its
 * requests are served only for a running call. docs/decision/0009. Used by hosts.ts and
 * browser_sessions.ts.
 * @module
 */
import { isObject, type Json, type JsonObject, toJson } from "../../../contracts/base/json.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Pid, TaskId } from "../../../contracts/authority/ids.ts";
import {
  HostFunction,
  type PluginManifest,
  type PluginTool,
} from "../../../contracts/tool/plugin.ts";
import type { PortHandler } from "../../../contracts/base/port.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { PluginCallAnswer } from "../../../contracts/wire/wire_plugin.ts";
import type { Child } from "../../core/child/child.ts";
import type { Children } from "../../core/child/children.ts";
import type { Deadline, Deadlines } from "../../core/process/limits.ts";
import { howEnded } from "../../core/start/spawn.ts";
import type { CodeFile, Engine, PluginCode } from "./hosts.ts";

/** Milliseconds for a cancelled call to stop. */
const HONOUR_MS = 250;
/** Milliseconds for loading and compiling a plugin, whose code may be slow on purpose. */
const LOAD_MS = 10_000;

/** One call of a plugin's tool. */
export interface PluginCall {
  readonly task: TaskId;
  readonly pid: Pid;
  /** Unique among the running calls of all tasks. */
  readonly id: string;
  readonly manifest: PluginManifest;
  readonly tool: PluginTool;
  readonly file: string;
  /** The plugin shares a host with the task's other trusted plugins. */
  readonly trusted: boolean;
  /** 0 for a process's own call, plus one for each level of calls within calls. */
  readonly depth: number;
  readonly args: JsonObject;
  /** Bytes of the value as JSON, at most. */
  readonly bytes: number;
  readonly signal: AbortSignal;
  /** Serves a host function. While it resolves, `waiting` functions stop the call's clock. */
  serve(fn: HostFunction, args: JsonObject): Promise<Json>;
}

/** The starter, the code and the clock of a plugin host. */
export interface PluginHostParts {
  readonly children: Pick<Children, "plugin">;
  readonly powers: Pick<Powers, "now" | "after">;
  readonly code: PluginCode;
  /** The module that runs scripts, if any. */
  readonly engine?: Engine | undefined;
  readonly deadlines: Deadlines;
}

/** One plugin host. */
export interface PluginHost {
  readonly child: Child;
  /** Runs a call; see {@link PluginHosts.call} for how it rejects. */
  call(call: PluginCall): Promise<PluginCallAnswer>;
  /** Counts since the start: calls begun, running calls, and instances by the host's own report. */
  counts(): { readonly begun: number; readonly under: number; readonly instances: number };
}

/** Functions that stop the call's clock: each has a deadline of its own or waits for a person. */
const WAITING: ReadonlySet<HostFunction> = new Set([
  "fs.write",
  "fs.delete",
  "tool.call",
  "model.complete",
  "http.fetch",
]);

interface Open {
  readonly call: PluginCall;
  readonly deadline: Deadline;
  ending: Fault | undefined;
}

/** Starts a plugin host. Rejects with `upstream` when the process does not start. */
export async function startPluginHost(parts: PluginHostParts): Promise<PluginHost> {
  const { powers, code } = parts;
  const open = new Map<string, Open>();
  /** Loads by plugin, in progress or done. */
  const loaded = new Map<string, Promise<unknown>>();
  /** The end of each plugin's last call; calls of a plugin run one at a time. */
  const turns = new Map<string, Promise<unknown>>();
  const counted = { begun: 0, under: 0, instances: 0 };

  const handler: PortHandler = {
    async ask(op: string, body: Json): Promise<Json> {
      const { call: id, fn, args } = asked(op, body);
      const entry = open.get(id);
      if (entry === undefined) {
        throw new Fault("unknownCapability", "Cannot serve a host call: no such call is under way");
      }
      if (entry.ending !== undefined) throw entry.ending;
      const resume = WAITING.has(fn) ? entry.deadline.pause() : undefined;
      try {
        return toJson(await entry.call.serve(fn, args));
      } catch (error) {
        // A call within this one waits for a person: this one ends, and is repeated later.
        if (error instanceof Fault && error.code === "needsApproval") entry.ending ??= error;
        throw error;
      } finally {
        resume?.();
      }
    },
    tell(op: string): void {
      throw new Fault("badFrame", `Cannot serve a plugin host: it told "${op.slice(0, 64)}"`);
    },
  };
  const child = await parts.children.plugin(handler);

  const once = (key: string, load: () => Promise<unknown>): Promise<unknown> => {
    const before = loaded.get(key);
    if (before !== undefined) return before;
    const loading = inTime(key, load());
    loaded.set(key, loading);
    loading.catch(() => loaded.delete(key));
    return loading;
  };

  const inTime = async (what: string, loading: Promise<unknown>): Promise<unknown> => {
    let late = false;
    const cancel = powers.after(LOAD_MS, () => {
      late = true;
      void child.kill();
    });
    try {
      return await loading;
    } catch (error) {
      if (!late) throw error;
      throw new Fault("timedOut", `Cannot load plugin "${what}": it takes more than ${LOAD_MS} ms`);
    } finally {
      cancel();
    }
  };

  const loadEngine = (): Promise<unknown> => {
    if (parts.engine !== undefined) return inTime("engine", parts.engine.load(child));
    throw new Fault("unavailable", "Cannot run a script plugin: there is no engine for it");
  };

  const load = ({ manifest, file }: PluginCall): Promise<unknown> =>
    once(manifest.name, async () => {
      const { name, engine, sha256, memoryPages, hostFunctions } = manifest;
      const source: CodeFile = { file, sha256, name };
      // The engine's own module is not sent twice.
      const known = sha256 === parts.engine?.sha256;
      if (engine === "script" || known) await loadEngine();
      const exports = manifest.tools.flatMap((each) =>
        each.export === undefined ? [] : [[each.name, each.export] as const]
      );
      return await child.port.ask("load", {
        ...{ plugin: name, engine, sha256, memoryPages, hostFunctions },
        code: known ? "" : await (engine === "script" ? code.text(source) : code.base64(source)),
        ...(exports.length === 0 ? {} : { exports: Object.fromEntries(exports) }),
      });
    });

  const perform = async (call: PluginCall): Promise<PluginCallAnswer> => {
    const { id, args, bytes, manifest, tool, signal } = call;
    const deadlineMs = deadlineOf(tool, args);
    let spare = (): void => {};
    const entry: Open = {
      call,
      ending: undefined,
      deadline: parts.deadlines.start(call.pid, deadlineMs, () => {
        entry.ending ??= new Fault(
          "timedOut",
          `Cannot finish "${tool.name}": it computed for more than ${deadlineMs} ms`,
        );
        // After its time the host is killed without a request to stop.
        void child.kill();
      }),
    };
    const cancel = (): void => {
      entry.ending ??= new Fault("cancelled", `Cannot finish "${tool.name}": cancelled`);
      child.port.tell("cancel", { id });
      spare = powers.after(HONOUR_MS, () => void child.kill());
    };
    open.set(id, entry);
    signal.addEventListener("abort", cancel, { once: true });
    try {
      if (signal.aborted) throw new Fault("cancelled", `Cannot run "${tool.name}": cancelled`);
      const answer = await child.port.ask("call", {
        ...{ id, plugin: manifest.name, tool: tool.name, args, bytes },
        ...(tool.export === undefined ? {} : { raw: rawOf(args) }),
      });
      if (entry.ending !== undefined) throw entry.ending;
      const parsed = parsePluginAnswer(answer, tool.name);
      counted.instances = parsed.instances ?? 0;
      return parsed;
    } catch (error) {
      throw entry.ending ?? error;
    } finally {
      spare();
      open.delete(id);
      entry.deadline.cancel();
      signal.removeEventListener("abort", cancel);
    }
  };

  return Object.freeze({
    child,
    async call(call: PluginCall): Promise<PluginCallAnswer> {
      counted.begun += 1;
      counted.under += 1;
      const before = turns.get(call.manifest.name) ?? Promise.resolve();
      const { promise: over, resolve: done } = Promise.withResolvers<void>();
      turns.set(call.manifest.name, over);
      try {
        await before;
        await load(call);
        return await perform(call);
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== "gone") throw error;
        throw new Fault(
          "upstream",
          `Cannot finish "${call.tool.name}": its process ended (${howEnded(await child.exited)})`,
          { cause: error },
        );
      } finally {
        counted.under -= 1;
        done();
      }
    },
    counts: () => ({ ...counted }),
  });
}

/** Milliseconds that a call may compute. */
function deadlineOf(tool: PluginTool, args: JsonObject): number {
  const wished = tool.deadline === undefined ? undefined : args[tool.deadline];
  return typeof wished === "number" ? Math.min(wished, tool.deadlineMs) : tool.deadlineMs;
}

/** The input of a tool with an export of its own. */
function rawOf(args: JsonObject): string {
  const { input } = args;
  return Object.keys(args).length === 1 && typeof input === "string" ? input : JSON.stringify(args);
}

/** TRUST: from a process that runs hostile code; only running calls can be named. */
function asked(op: string, body: Json): { call: string; fn: HostFunction; args: JsonObject } {
  if (op === "host" && isObject(body)) {
    const fn = HostFunction.safeParse(body["fn"]);
    const { call, args } = body;
    if (typeof call === "string" && fn.success && args !== undefined && isObject(args)) {
      return { call, fn: fn.data, args };
    }
  }
  throw new Fault("badFrame", "Cannot serve a plugin host: it asked for nothing there is");
}

const MAX_LINES = 10_000;

/** Parses `{value, logs, instances?}`; throws `upstream` for anything else. */
function parsePluginAnswer(raw: Json, tool: string): PluginCallAnswer {
  if (isObject(raw) && "value" in raw) {
    const { value, logs, instances = 0 } = raw;
    if (
      value !== undefined && Array.isArray(logs) && logs.length <= MAX_LINES &&
      logs.every((line) => typeof line === "string") && typeof instances === "number"
    ) return { value, logs, instances };
  }
  throw new Fault("upstream", `Cannot use the answer of "${tool}": it does not parse`);
}
