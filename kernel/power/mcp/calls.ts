/**
 * The calls under way at one bridge: their clocks, which stand still while a person is asked or their process is
 * stopped, and what the bridge asks and tells on their behalf. TRUST: everything that a bridge says was influenced by
 * its server.
 * @module
 */
import { PeerSaid } from "../../../contracts/exchange/exchange.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Label } from "../../../contracts/authority/colour.ts";
import type { Pid, TaskId } from "../../../contracts/authority/ids.ts";
import { isObject, type Json, type JsonObject, toJson } from "../../../contracts/base/json.ts";
import type { ImportedServer } from "../../../contracts/exchange/mcp.ts";
import type { McpLogEntry } from "../../../contracts/exchange/mcp_loan.ts";
import type { Port, PortHandler } from "../../../contracts/base/port.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import {
  McpElicit,
  type McpElicited,
  McpSample,
  type McpSampled,
} from "../../../contracts/wire/wire_mcp.ts";
import { type Deadline, makeDeadline } from "../../core/process/limits.ts";

/** Progress begins a call's time anew, until all of it comes to so many times its deadline. */
const TIMES = 4;
/** Milliseconds that a bridge allows beyond that: it does not know who is waited for. */
const WAIT_MS = 600_000;
/** Milliseconds that a bridge may take to give up a call that it was told to. */
const HONOUR_MS = 2_000;
/** Notices of a server that are written down in the life of one process. */
const NOTICES = 200;
const NOTICE = 1_024;

/** A server of a task, and the call of it that is meant, where one is. */
export interface McpPlace {
  readonly task: TaskId;
  readonly server: ImportedServer;
  readonly pid?: Pid;
  readonly callId?: string;
}

/** On whose behalf a server is asked, and within which bounds. */
export interface McpUnder {
  readonly pid: Pid;
  readonly callId: string;
  /** `read`: while nothing but such calls is under way, the server may write nothing. */
  readonly holds: "read" | "all";
  /** How confidential what it may write is; absent: as can be. */
  readonly label?: Label;
  /** Milliseconds, while nobody else is waited for; progress begins them anew. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  onProgress?(text: string): void;
  /** A peer said something that is not the call's result. */
  onSaid?(said: PeerSaid): void;
}

/** What the kernel does for servers: see mcp_tools.ts. */
export interface McpServe {
  http(at: McpPlace, body: Json): Promise<Json>;
  httpRead(at: McpPlace, body: Json): Promise<Json>;
  httpCancel(at: McpPlace, body: Json): void;
  elicit(at: McpPlace, body: McpElicit): Promise<McpElicited>;
  sample(at: McpPlace, body: McpSample): Promise<McpSampled>;
  log(at: McpPlace, what: McpLogEntry["what"], body?: JsonObject, text?: string): void;
  /** Values of `secretEnv` that were lent. */
  env(server: ImportedServer): Readonly<Record<string, string>>;
  /** Its process has ended. */
  ended(at: McpPlace): void;
}

/** What {@link makeMcpCalls} is handed. */
export interface McpCallsParts {
  readonly at: McpPlace;
  readonly serve: McpServe;
  readonly powers: Pick<Powers, "now" | "after">;
  isFrozen(pid: Pid): boolean;
  /** Writes to the server's input. */
  send(text: string): Promise<void>;
  /** The server says that what it offers has changed. */
  changed(what: string): void;
  /** The bridge broke off, or does not answer: both processes must end. */
  broken(why: string): void;
}

/** The calls of one bridge. */
export interface McpCalls {
  readonly handler: PortHandler;
  /** Rejects with the bridge's fault, `timedOut`, `cancelled`. */
  ask(
    port: Port,
    asked: { readonly op: string; readonly body: JsonObject },
    under: McpUnder,
  ): Promise<Json>;
  /** Whether a call is under way that may write. */
  writes(): boolean;
  freeze(pid: Pid): void;
  thaw(pid: Pid): void;
}

interface Call {
  readonly under: McpUnder;
  /** Not extended beyond; put off by as long as somebody else is waited for. */
  end: number;
  due(): void;
  deadline: Deadline;
  /** People and models that are waited for. */
  waits: number;
}

/** Makes the calls of one bridge: none. */
export function makeMcpCalls(parts: McpCallsParts): McpCalls {
  const { at, serve, powers } = parts;
  const calls = new Map<string, Call>();
  let ids = 0, notices = 0;

  const placeOf = (call: Call | undefined): McpPlace =>
    call === undefined ? at : { ...at, pid: call.under.pid, callId: call.under.callId };
  const stands = (call: Call): boolean => call.waits > 0 || parts.isFrozen(call.under.pid);

  /** The clock of the call that a question belongs to stands still. */
  const waiting = async <T>(
    id: string | undefined,
    wait: (at: McpPlace) => Promise<T>,
  ): Promise<T> => {
    const call = id === undefined ? undefined : calls.get(id);
    if (call === undefined) return await wait(placeOf(call));
    const from = powers.now();
    if (call.waits++ === 0) call.deadline.freeze();
    try {
      return await wait(placeOf(call));
    } finally {
      if (--call.waits === 0) {
        call.end += powers.now() - from;
        if (!stands(call)) call.deadline.thaw();
      }
    }
  };

  const asks = async (op: string, body: Json): Promise<Json> => {
    switch (op) {
      case "send":
        await parts.send(textOf(body));
        return null;
      case "http":
        return await serve.http(at, body);
      case "httpRead":
        return await serve.httpRead(at, body);
      case "elicit": {
        const asked = parsed(McpElicit.safeParse(body), op);
        return toJson(await waiting(asked.call, (place) => serve.elicit(place, asked)));
      }
      case "sample": {
        const asked = parsed(McpSample.safeParse(body), op);
        return toJson(await waiting(asked.call, (place) => serve.sample(place, asked)));
      }
      default:
        throw new Fault("invalidInput", `Cannot serve a bridge: it asked for "${op.slice(0, 64)}"`);
    }
  };

  const progress = (body: Json): void => {
    const { id, progress, total, message } = fields(body);
    const call = typeof id === "string" ? calls.get(id) : undefined;
    if (call === undefined) return;
    const left = Math.min(call.under.deadlineMs, call.end - powers.now());
    if (!stands(call) && left > 0) {
      call.deadline.cancel();
      call.deadline = makeDeadline(powers, left, call.due);
    }
    const share = typeof total === "number" ? `${progress}/${total}` : String(progress);
    call.under.onProgress?.(
      typeof message === "string" ? `${share} ${message.slice(0, NOTICE)}` : share,
    );
  };

  const notice = (what: McpLogEntry["what"], body: JsonObject, text: string): void => {
    if (++notices <= NOTICES) serve.log(at, what, body, text.slice(0, NOTICE));
  };

  const tells = (op: string, body: Json): void => {
    const { what, level, text } = fields(body);
    if (op === "progress") return progress(body);
    // Where it fails the server has ended, or is ended for it: the bridge is told that.
    if (op === "send") return void parts.send(textOf(body)).catch(unlessFault);
    if (op === "said") {
      const { data } = PeerSaid.safeParse(body);
      return data === undefined ? undefined : calls.get(data.id)?.under.onSaid?.(data);
    }
    if (op === "httpCancel") return serve.httpCancel(at, body);
    if (op === "changed" && typeof what === "string") {
      notice("changed", {}, what);
      return parts.changed(what);
    }
    if (op === "odd" && typeof what === "string") return notice("odd", {}, what);
    if (op === "log" && typeof text === "string") {
      const serious = ["error", "critical", "alert", "emergency"].includes(String(level));
      if (serious) notice("errors", {}, text);
    }
    // `updated`, and whatever else: nobody listens.
  };

  const ask: McpCalls["ask"] = async (port, { op, body }, under) => {
    const { signal, deadlineMs } = under;
    if (signal.aborted) throw new Fault("cancelled", "Cannot ask an imported server: cancelled");
    const id = `c${++ids}`;
    let ending: Fault | undefined, spare = (): void => undefined;
    const { promise: over, reject } = Promise.withResolvers<never>();
    over.catch(() => undefined);
    const stop = (fault: Fault): void => {
      if (ending !== undefined) return;
      ending = fault;
      port.tell("cancel", { id });
      reject(fault);
      spare = powers.after(HONOUR_MS, () => parts.broken("its bridge does not answer"));
    };
    const due = (): void => {
      const s = Math.round(deadlineMs / 1_000);
      stop(new Fault("timedOut", `Cannot ask "${at.server.name}": no answer in ${s} s`));
    };
    const cancel = (): void =>
      stop(new Fault("cancelled", `Cannot ask "${at.server.name}": cancelled`));
    const call: Call = {
      ...{ under, due, waits: 0, end: powers.now() + TIMES * deadlineMs },
      deadline: makeDeadline(powers, deadlineMs, due),
    };
    if (parts.isFrozen(under.pid)) call.deadline.freeze();
    calls.set(id, call);
    signal.addEventListener("abort", cancel, { once: true });
    // The bridge's own clock is a long stop.
    const answer = port.ask(op, {
      ...{ ...body, id, deadlineMs: WAIT_MS + TIMES * deadlineMs, waitMs: deadlineMs },
    });
    const settled = answer.then(() => undefined, () => undefined).then(() => {
      spare();
      calls.delete(id);
      call.deadline.cancel();
      signal.removeEventListener("abort", cancel);
    });
    try {
      return await Promise.race([answer, over]);
    } catch (error) {
      const fault = ending ?? error;
      if (fault instanceof Fault && fault.code !== "cancelled") {
        notice(
          "call",
          { failed: fault.code },
          typeof body["tool"] === "string" ? body["tool"] : op,
        );
      }
      throw fault;
    } finally {
      if (ending === undefined) await settled;
    }
  };
  const each = (pid: Pid, act: (call: Call) => void): void => {
    for (const call of calls.values()) if (call.under.pid === pid) act(call);
  };
  return Object.freeze<McpCalls>({
    handler: Object.freeze<PortHandler>({ ask: asks, tell: tells }),
    ask,
    writes: () => [...calls.values()].some(({ under }) => under.holds === "all"),
    freeze: (pid) => each(pid, ({ deadline }) => deadline.freeze()),
    thaw: (pid) => each(pid, (call) => call.waits === 0 && call.deadline.thaw()),
  });
}

function unlessFault(error: unknown): void {
  if (!(error instanceof Fault)) throw error;
}

function textOf(body: Json): string {
  const { text } = fields(body);
  if (typeof text === "string") return text;
  throw new Fault("badFrame", "Cannot send to a server: its bridge gave no text");
}

function fields(body: Json): Readonly<Record<string, Json | undefined>> {
  return isObject(body) ? body : {};
}

function parsed<T>(
  result: { readonly success: true; readonly data: T } | { readonly success: false },
  op: string,
): T {
  if (result.success) return result.data;
  throw new Fault("badFrame", `Cannot serve "${op}" of a bridge: its body is not one`);
}

/** What a call sees when its server is ended under it. */
export function isEnd(error: unknown): boolean {
  return error instanceof Fault && ["gone", "upstream", "timedOut"].includes(error.code);
}

/** Whether a call was not answered in time. */
export function isLate(error: unknown): error is Fault {
  return error instanceof Fault && error.code === "timedOut";
}
