/**
 * What a plugin's call may ask the kernel for: one dispatcher, checked against the grants of that
 * very call. Issue 3, Host functions.
 * @module
 */
import { isObject } from "../contracts/json.ts";
import {
  CallId,
  type Colour,
  Fault,
  type Gate,
  HOST_LIST,
  HOST_READ,
  type HostCallAnswer,
  type HostFunction,
  type Json,
  type JsonObject,
  type Label,
  type Leases,
  mixColour,
  mixLabel,
  type NetAnswer,
  type NetRequest,
  type ProcessRow,
  Scope,
  type Source,
  type TaskId,
} from "../contracts/mod.ts";
import { sha256Hex } from "../port/digest.ts";
import { displayText } from "../text/mod.ts";
import type { AskAside } from "./aside.ts";
import type { Fetching } from "./fetching.ts";
import { badArgument, contentIn, headersIn, textIn, textOf } from "./host_arguments.ts";
import { beneath, covers } from "./lease_scope.ts";
import type { TaskWiki } from "./wiki_tools.ts";

/** What one call of a plugin may do. See tools-wasm/binding. */
export interface Grants {
  readonly functions: ReadonlySet<HostFunction>;
  readonly reads: readonly Scope[];
  readonly writes: readonly string[];
  readonly origin?: string;
}

/** A call of a plugin under way, with what it has read so far. */
export interface Under {
  readonly plugin: string;
  readonly callId: string;
  readonly process: ProcessRow;
  readonly grants: Grants;
  /** Whether its requests may be others than GET and HEAD. */
  readonly sends: boolean;
  readonly signal: AbortSignal;
  colour: Colour;
  label: Label;
  sources: readonly Source[];
  /** Host calls served. */
  served: number;
}

/** A task's files, as plugins reach them. */
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
  /** The wiki that the task was handed. */
  readonly memory?: Pick<TaskWiki, "query">;
}

/** What {@link makeHostFunctions} is handed. */
export interface HostFunctionsParts {
  /** The gate as the task has it; undefined when it has ended. */
  gateOf(task: TaskId): Pick<Gate, "call"> | undefined;
  readonly leases: Pick<Leases, "covering">;
  readonly fetching: Fetching;
  looking(task: TaskId): Looking | undefined;
  originOf(url: string): string;
  /** How confidential an answer of the web is. */
  labelOf(answer: NetAnswer): Label;
  /** The task's model, for an inference beside the conversation; undefined when it has ended. */
  modelOf(task: TaskId): AskAside | undefined;
  /** A call is about to be made on behalf of `under`. */
  within(under: Under, inner: string): () => void;
  onProgress(under: Under, text: string): void;
}

/** Serves one host function of one call. */
export type ServeHostFunction = (under: Under, fn: HostFunction, args: JsonObject) => Promise<Json>;

const LOOK_MS = 30_000;
const PROGRESS = 500;
/** Tokens of an answer that a plugin does not bound itself. */
const COMPLETION_TOKENS = 1_024;
const METHODS: readonly NetRequest["method"][] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/** Passages of the wiki for one query. */
const PASSAGES = 6, MOST_PASSAGES = 20;
/** Longest question to the wiki, UTF-16 units. */
const QUERY = 4_096;
/** Longest id of a call that one within it is named after. */
const LONG_ID = 100;

/** Makes the dispatcher. */
export function makeHostFunctions(parts: HostFunctionsParts): ServeHostFunction {
  const taint = (under: Under, what: Pick<Under, "colour" | "label" | "sources">): void => {
    under.colour = mixColour(under.colour, what.colour);
    under.label = mixLabel(under.label, what.label);
    under.sources = [...under.sources, ...what.sources].slice(-100);
  };

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
    taint(under, answer);
    return answer.value ?? null;
  };

  /** Another tool, proposed to the gate on behalf of the process: decided and recorded by itself. */
  const propose = async (under: Under, name: string, args: Json): Promise<Json> => {
    const { process, signal } = under;
    const snapshot = process.snapshot?.id ?? "";
    const gate = parts.gateOf(process.task);
    if (gate === undefined) throw new Fault("gone", `Cannot call "${name}": the task has ended`);
    const id = innerId(under);
    const done = parts.within(under, id);
    try {
      const call = { id, name, arguments: JSON.stringify(args) };
      const result = await gate.call(process.pid, call, snapshot, signal);
      taint(under, { colour: result.colour, label: result.label, sources: [] });
      const { outcome, content, error } = result;
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

  const fetchPage = async (under: Under, args: JsonObject): Promise<Json> => {
    const { process, grants, callId, signal } = under;
    const url = textIn(args, "url");
    const method = METHODS.find((each) => each === (args["method"] ?? "GET"));
    if (method === undefined) throw badArgument("method", "it is not known");
    if (!under.sends && method !== "GET" && method !== "HEAD") {
      throw new Fault("refused", `Cannot ${method}: this plugin's tool only reads`);
    }
    if (grants.origin === undefined || parts.originOf(url) !== grants.origin) {
      throw new Fault(
        "refused",
        `Cannot fetch ${JSON.stringify(url.slice(0, 200))}: this call was made for ` +
          `${grants.origin ?? "no address"}`,
      );
    }
    const { body, bytes } = args;
    const answer = await parts.fetching.fetch({
      ...{ task: process.task, pid: process.pid, callId, origin: grants.origin, method, url },
      headers: headersIn(args),
      ...(typeof body === "string" ? { body } : {}),
      ...(typeof bytes === "number" ? { bytes } : {}),
    }, signal);
    const read = { colour: "RED", label: parts.labelOf(answer) } as const;
    taint(under, { ...read, sources: [{ source: answer.url.slice(0, 512), ...read }] });
    return fetched(answer);
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
    // What a model says is as trusted as what it was asked with.
    const { colour, label } = under.process;
    taint(under, { colour, label, sources: [] });
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
    if (typeof k !== "number" || !Number.isInteger(k) || k < 1 || k > MOST_PASSAGES) {
      throw badArgument("k", `it is not a whole number from 1 to ${MOST_PASSAGES}`);
    }
    const text = textIn(args, "query").slice(0, QUERY);
    const { hits, fit, colour, label, sources } = await wiki.query({ text, k }, signal);
    taint(under, { colour, label, sources });
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
        parts.onProgress(under, displayText(textIn(args, "text"), { max: PROGRESS }));
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

/** The same call within the same call, made again after a crash, has the same id. */
function innerId({ callId, served }: Under): CallId {
  const outer = callId.length > LONG_ID ? sha256Hex(callId).slice(0, 32) : callId;
  return CallId.parse(`${outer}/${served}`);
}

function fetched(answer: NetAnswer): JsonObject {
  const { status, url, headers, body, cut, stopped } = answer;
  const bytes = Uint8Array.fromBase64(body);
  const content = textOf(bytes);
  return {
    ...{ status, url, headers, cut },
    ...(content === undefined ? { base64: body } : { text: content }),
    ...(stopped === undefined ? {} : { stopped: { ...stopped } }),
  };
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "no path" : names.map((name) => JSON.stringify(name)).join(", ");
}
