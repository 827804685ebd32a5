/**
 * The host functions of plugin calls: one dispatcher, checked against the grants of the particular call.
 * @module
 */
import { mixColour } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { Scope } from "../../../contracts/authority/lease.ts";
import type { Gate, Leases } from "../../../contracts/authority/gate.ts";
import { CallId, type TaskId } from "../../../contracts/authority/ids.ts";
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import type { HostFunction } from "../../../contracts/tool/plugin.ts";
import type { ProcessKeeper, ProcessRow } from "../../../contracts/task/process.ts";
import {
  HOST_LIST,
  HOST_READ,
  type HostCallAnswer,
} from "../../../contracts/wire/wire_toolhost.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { displayText } from "../../../text/mod.ts";
import type { AskAside } from "../model/governed_model.ts";
import type { Fetching } from "../net/fetching.ts";
import {
  badArgument,
  contentIn,
  type HostFetchParts,
  makeHasRead,
  makeHostFetch,
  textIn,
  type Under,
} from "./host_fetch.ts";
import { beneath, covers } from "../../core/lease/scope.ts";
import type { TaskWiki } from "../wiki/wiki_tools.ts";

/** Plugins' access to a task's files. */
export interface Looking {
  readScope(path: string, process: Pick<ProcessRow, "mounts">): Scope;
  look(call: {
    readonly tool: string;
    readonly args: JsonObject;
    readonly process: ProcessRow;
    readonly id: string;
    readonly scope: Scope;
    readonly deadlineMs: number;
    readonly signal: AbortSignal;
  }): Promise<HostCallAnswer>;
  /** The task's wiki. */
  readonly memory?: Pick<TaskWiki, "query">;
}

/** The kernel's parts behind the host functions. */
export interface HostFunctionsParts extends Omit<HostFetchParts, "fetching" | "hasRead"> {
  /** The task's gate; undefined once the task has ended. */
  gateOf(task: TaskId): Pick<Gate, "call"> | undefined;
  readonly processes: Pick<ProcessKeeper, "taint">;
  readonly leases: Pick<Leases, "covering">;
  readonly fetching: Fetching;
  looking(task: TaskId): Looking | undefined;
  /** The task's model, for an inference outside the conversation; undefined once the task has ended. */
  modelOf(task: TaskId): AskAside | undefined;
  /** Called before a call within `under`; returns the function to call after it. */
  within(under: Under, inner: string): () => void;
  onProgress(under: Under, text: string): void;
}

/** Serves one host function of one call. */
export type ServeHostFunction = (under: Under, fn: HostFunction, args: JsonObject) => Promise<Json>;

const LOOK_MS = 30_000;
const MAX_PROGRESS = 500;
/** Tokens of a completion where the plugin names no limit. */
const COMPLETION_TOKENS = 1_024;
/** Passages of one query to the wiki: by default, and at most. */
const PASSAGES = 6, MAX_PASSAGES = 20;
/** UTF-16 units of a query to the wiki. */
const MAX_QUERY = 4_096;
/** Length of a call id above which inner ids use its hash. */
const MAX_ID = 100;

/** Makes the dispatcher of host functions. */
export function makeHostFunctions(parts: HostFunctionsParts): ServeHostFunction {
  const hasRead = makeHasRead(parts.processes);
  const fetchPage = makeHostFetch({ ...parts, hasRead });

  const look = async (under: Under, tool: string, args: JsonObject): Promise<Json> => {
    const { process, grants, signal } = under;
    const path = textIn(args, "path");
    const files = parts.looking(process.task);
    if (files === undefined) throw new Fault("gone", "Cannot read a file: the task has ended");
    const scope = files.readScope(path, process);
    if (!grants.reads.some((granted) => covers(granted, scope))) {
      throw new Fault(
        "refused",
        `Cannot read ${JSON.stringify(path)}: this call was made for ` +
          `${listed(grants.reads.map((each) => each.path))}; name the path in its arguments`,
      );
    }
    const answer = await files.look({
      ...{ tool, args, process, scope, signal },
      id: `${process.pid}-${under.callId}-${under.served}`,
      deadlineMs: LOOK_MS,
    });
    hasRead(under, answer);
    return answer.value ?? null;
  };

  /** Proposes a call of another tool to the gate, which decides and logs it like any call of the process. */
  const propose = async (under: Under, name: string, args: Json): Promise<Json> => {
    const { process, signal } = under;
    const snapshot = process.snapshot?.id ?? "";
    const gate = parts.gateOf(process.task);
    if (gate === undefined) throw new Fault("gone", `Cannot call "${name}": the task has ended`);
    const id = innerId(under), had = process.colour;
    const done = parts.within(under, id);
    try {
      const call = { id, name, arguments: JSON.stringify(args) };
      const result = await gate.call(process.pid, call, snapshot, signal);
      const { outcome, content, error, colour, label } = result;
      // A result's colour is at best the process's, so it is new only where the process's colour fell.
      const fell = mixColour(had, colour) !== had;
      hasRead(under, { colour, label, sources: [] }, { colour: fell ? colour : "BLUE", label });
      return { outcome, content, ...(error === undefined ? {} : { error }) };
    } finally {
      done();
    }
  };

  const change = async (under: Under, name: string, args: JsonObject): Promise<Json> => {
    const path = textIn(args, "path");
    if (!under.grants.writes.some((granted) => beneath(granted, path))) {
      throw new Fault(
        "refused",
        `Cannot change ${JSON.stringify(path)}: this call was made for ` +
          `${listed(under.grants.writes)}; name the path in its arguments`,
      );
    }
    const result = await propose(under, name, args);
    if (isObject(result) && result["outcome"] === "ok") return null;
    const error = isObject(result) ? result["error"] : undefined;
    throw new Fault("refused", typeof error === "string" ? error : `Cannot change "${path}"`);
  };

  const complete = async (under: Under, args: JsonObject): Promise<Json> => {
    const ask = parts.modelOf(under.process.task);
    if (ask === undefined) throw new Fault("gone", "Cannot infer: the task has ended");
    const { maxTokens = COMPLETION_TOKENS } = args;
    if (typeof maxTokens !== "number" || !Number.isInteger(maxTokens) || maxTokens < 1) {
      throw badArgument("maxTokens", "it is not a whole number above 0");
    }
    const prompt = textIn(args, "prompt");
    const text = await ask(under.process, { prompt, maxTokens }, under.signal);
    // A model's answer is as trusted as its prompt.
    const { colour, label } = under.process;
    hasRead(under, { colour, label, sources: [] });
    return { text };
  };

  const remember = async (under: Under, args: JsonObject): Promise<Json> => {
    const { process, signal } = under, scope = { resource: "memory", right: "read", path: "wiki" };
    const wiki = parts.looking(process.task)?.memory;
    const lease = parts.leases.covering(process.pid, Scope.parse(scope));
    if (wiki === undefined || lease === undefined) {
      throw new Fault(
        "refused",
        "Cannot query the memory: this task holds no wiki; run it with --wiki FOLDER",
      );
    }
    const { k = PASSAGES } = args;
    if (typeof k !== "number" || !Number.isInteger(k) || k < 1 || k > MAX_PASSAGES) {
      throw badArgument("k", `it is not a whole number from 1 to ${MAX_PASSAGES}`);
    }
    const text = textIn(args, "query").slice(0, MAX_QUERY);
    const { hits, fit, colour, label, sources } = await wiki.query({ text, k }, signal);
    hasRead(under, { colour, label, sources });
    return { hits, fit };
  };

  return async (under, fn, args) => {
    under.served += 1;
    if (!under.grants.functions.has(fn)) {
      throw new Fault(
        "refused",
        `Cannot use ${fn}: plugin ${under.plugin} did not ask for it; add it to hostFunctions in ` +
          "its tool.yaml and have it reviewed",
      );
    }
    switch (fn) {
      case "fs.read":
        return await look(under, HOST_READ, args);
      case "fs.list":
        return await look(under, HOST_LIST, args);
      case "fs.write": {
        const path = textIn(args, "path");
        const tool = path.startsWith("scratch/") ? "scratch_write" : "file_write";
        return await change(under, tool, { path, content: contentIn(args) });
      }
      case "fs.delete":
        return await change(under, "file_delete", { path: textIn(args, "path") });
      case "http.fetch":
        return await fetchPage(under, args);
      case "tool.call":
        return await propose(under, textIn(args, "name"), args["args"] ?? {});
      case "secret.use":
        return { handle: parts.fetching.handle(textIn(args, "name"), under.grants.origin) };
      case "progress":
        parts.onProgress(under, displayText(textIn(args, "text"), { max: MAX_PROGRESS }));
        return null;
      case "memory.query":
        return await remember(under, args);
      case "model.complete":
        return await complete(under, args);
      case "log":
      case "clock":
      case "random":
        throw new Fault("badFrame", `Cannot serve ${fn}: the plugin host does it itself`);
    }
  };
}

/** The id of a call within a call, which is the same when the outer call is repeated after a crash. */
function innerId({ callId, served }: Under): CallId {
  const outer = callId.length > MAX_ID ? sha256Hex(callId).slice(0, 32) : callId;
  return CallId.parse(`${outer}/${served}`);
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "no path" : names.map((name) => JSON.stringify(name)).join(", ");
}
