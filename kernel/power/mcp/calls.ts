/**
 * The running calls of one bridge: their clocks, which stop while a person is asked or their
 * process is stopped, and the bridge's requests and notifications during calls. TRUST: everything
 * that a bridge sends may be influenced by its server.
 * @module
 */
import { unlessFault } from "./process.ts";
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
import type { Deadline, Deadlines } from "../../core/process/limits.ts";

/** Progress restarts a call's time, up to this multiple of its deadline in total. */
const MAX_EXTENSION = 4;
/** Milliseconds beyond that for the bridge's own clock, which does not know of waits for people. */
const WAIT_MS = 600_000;
/** Milliseconds for a bridge to give up a cancelled call. */
const HONOUR_MS = 2_000;
/** Notices of a server that are logged in the life of one process, and characters of one. */
const MAX_NOTICES = 200;
const MAX_NOTICE = 1_024;

/** A server in a task, and a call of it, where one is meant. */
export interface McpPlace {
  readonly task: TaskId;
  readonly server: ImportedServer;
  readonly pid?: Pid;
  readonly callId?: string;
}

/** The process and the bounds of one request to a server. */
export interface McpUnder {
  readonly pid: Pid;
  readonly callId: string;
  /** `read`: while only such calls run, the server may write nothing. */
  readonly holds: "read" | "all";
  /** The label of what the server may write; absent: the highest. */
  readonly label?: Label;
  /** Milliseconds, not counting waits for people; progress restarts them. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  onProgress?(text: string): void;
  /** Called with a peer's message that is not the call's result. */
  onSaid?(said: PeerSaid): void;
}

/** The kernel's services for servers: see mcp_tools.ts. */
export interface McpServe {
  http(at: McpPlace, body: Json): Promise<Json>;
  httpRead(at: McpPlace, body: Json): Promise<Json>;
  httpCancel(at: McpPlace, body: Json): void;
  elicit(at: McpPlace, body: McpElicit): Promise<McpElicited>;
  sample(at: McpPlace, body: McpSample): Promise<McpSampled>;
  log(at: McpPlace, what: McpLogEntry["what"], body?: JsonObject, text?: string): void;
  /** Lent values of `secretEnv`. */
  env(server: ImportedServer): Readonly<Record<string, string>>;
  /** Called when the server's process has ended. */
  ended(at: McpPlace): void;
}

/** The server, the kernel's services, and the callbacks of one bridge. */
export interface McpCallsParts {
  readonly at: McpPlace;
  readonly serve: McpServe;
  readonly powers: Pick<Powers, "now" | "after">;
  readonly deadlines: Deadlines;
  /** Writes to the server's input. */
  send(text: string): Promise<void>;
  /** Called when the server reports that its offers have changed. */
  changed(what: string): void;
  /** Called when the bridge fails or does not answer: both processes must end. */
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
  /** Tells whether a running call may write. */
  writes(): boolean;
}

interface Call {
  readonly under: McpUnder;
  /** Latest end of the call, moved by waits for people. */
  end: number;
  readonly deadline: Deadline;
  /** Number of open waits for people and models. */
  waits: number;
}

/** Makes the empty set of calls of one bridge. */
export function makeMcpCalls(parts: McpCallsParts): McpCalls {
  const { at, serve, powers } = parts;
  const calls = new Map<string, Call>();
  let ids = 0, notices = 0;

  const placeOf = (call: Call | undefined): McpPlace =>
    call === undefined ? at : { ...at, pid: call.under.pid, callId: call.under.callId };

  /** Runs a wait for a person or model, during which the call's clock stops. */
  const waiting = async <T>(
    id: string | undefined,
    wait: (at: McpPlace) => Promise<T>,
  ): Promise<T> => {
    const call = id === undefined ? undefined : calls.get(id);
    if (call === undefined) return await wait(placeOf(call));
    const from = powers.now();
    call.waits += 1;
    const resume = call.deadline.pause();
    try {
      return await wait(placeOf(call));
    } finally {
      if (--call.waits === 0) call.end += powers.now() - from;
      resume();
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
    if (left > 0) call.deadline.restart(left);
    const share = typeof total === "number" ? `${progress}/${total}` : String(progress);
    call.under.onProgress?.(
      typeof message === "string" ? `${share} ${message.slice(0, MAX_NOTICE)}` : share,
    );
  };

  const notice = (what: McpLogEntry["what"], body: JsonObject, text: string): void => {
    if (++notices <= MAX_NOTICES) serve.log(at, what, body, text.slice(0, MAX_NOTICE));
  };

  const tells = (op: string, body: Json): void => {
    const { what, level, text } = fields(body);
    if (op === "progress") return progress(body);
    // A failure means that the server has ended or is being ended, which the bridge learns anyway.
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
    // Other notifications, such as `updated`, are ignored.
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
      ...{ under, waits: 0, end: powers.now() + MAX_EXTENSION * deadlineMs },
      deadline: parts.deadlines.start(under.pid, deadlineMs, due),
    };
    calls.set(id, call);
    signal.addEventListener("abort", cancel, { once: true });
    // The bridge's own clock is only a long backstop.
    const answer = port.ask(op, {
      ...{ ...body, id, deadlineMs: WAIT_MS + MAX_EXTENSION * deadlineMs, waitMs: deadlineMs },
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
  return Object.freeze<McpCalls>({
    handler: Object.freeze<PortHandler>({ ask: asks, tell: tells }),
    ask,
    writes: () => [...calls.values()].some(({ under }) => under.holds === "all"),
  });
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

/** Tells whether a fault may come from the end of the server during a call. */
export function isEnd(error: unknown): boolean {
  return error instanceof Fault && ["gone", "upstream", "timedOut"].includes(error.code);
}

/** Tells whether a call was not answered in time. */
export function isLate(error: unknown): error is Fault {
  return error instanceof Fault && error.code === "timedOut";
}
