/** Transports for the SDK's client: one over a process's lines, and a guard around the SDK's own. Used by connect.ts. @module */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../../contracts/base/json.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { MCP_LINE } from "../../../contracts/exchange/mcp_limits.ts";
import type { Guard } from "./guard.ts";
import { MAX_UNSENT, MAX_UNSENT_UNITS, type ReportViolation } from "./limits.ts";
import { type Message, readMessage, sortMessage } from "./message.ts";

/** A transport that the bridge can end. */
export interface GuardedTransport extends Transport {
  /** Ends the transport: every pending request fails. */
  end(why: string): void;
}

/** A transport over a server's standard streams. */
export interface LineTransport extends GuardedTransport {
  /** Takes a piece of the server's output. */
  take(text: string): void;
  /** Whether it was closed before the server answered anything. */
  readonly endedUnheard: boolean;
}

interface LineParts {
  readonly guard: Guard;
  readonly report: ReportViolation;
  /** Sends whole lines to the server; resolves when they are taken. */
  readonly send: (text: string) => Promise<unknown>;
}

/** Makes the transport of a server that reads and writes lines. */
export function makeLineTransport({ guard, report, send }: LineParts): LineTransport {
  let rest: string[] = [], restUnits = 0;
  let unsent = 0, unsentUnits = 0;
  let ended: string | undefined;
  let heard = false, asked = false;

  async function write(message: JsonObject): Promise<void> {
    if (ended !== undefined) throw new Fault("gone", `Cannot write to the server: ${ended}`);
    const { method } = message;
    // Newer servers are first asked `server/discover` (the probe) for the protocol versions they speak. A server
    // that did not answer the probe may still be starting: the probe waits in its pipe, and an `initialize` behind
    // the probe would be refused. The server must be started again.
    if (method === "initialize" && asked && !heard) {
      end("it did not say its revisions");
      throw new Fault("gone", "Cannot write to the server: it did not say its revisions");
    }
    asked ||= method === "server/discover";
    const text = `${JSON.stringify(message)}\n`;
    if (unsent >= MAX_UNSENT || (unsent > 0 && unsentUnits + text.length > MAX_UNSENT_UNITS)) {
      report("It does not read what we answer");
      end("it does not read");
      throw new Fault("gone", "Cannot write to the server: it does not read");
    }
    guard.sent(message);
    unsent++;
    unsentUnits += text.length;
    try {
      await send(text);
    } finally {
      unsent--;
      unsentUnits -= text.length;
    }
  }

  function line(text: string): void {
    const trimmed = text.trim();
    if (trimmed === "") return;
    const verdict = guard.take(readMessage(trimmed));
    heard ||= verdict.kind === "pass";
    if (verdict.kind === "pass") {
      transport.onmessage?.(verdict.message as unknown as JSONRPCMessage);
    } else if (verdict.kind === "answer") write(verdict.message).catch(() => {});
  }

  function end(why: string): void {
    if (ended !== undefined) return;
    ended = why;
    rest = [];
    transport.onclose?.();
  }

  const transport: LineTransport = {
    // The SDK takes a transport with the members `stderr` and `pid` for a pipe (`"stderr" in transport && "pid" in
    // transport`), and then a server that ignores the probe for an old one.
    ...{ stderr: null, pid: null },
    start: () => Promise.resolve(),
    send: (message) => write(message as unknown as JsonObject),
    close() {
      end("it was closed");
      return Promise.resolve();
    },
    end,
    get endedUnheard() {
      return ended !== undefined && !heard;
    },
    take(text) {
      for (let start = 0; ended === undefined;) {
        const newline = text.indexOf("\n", start);
        const piece = text.slice(start, newline < 0 ? undefined : newline);
        if (restUnits + piece.length > MCP_LINE) {
          report(`It sent a line of more than ${MCP_LINE} characters`);
          return end("it sent a line that is too long");
        }
        if (newline < 0) {
          if (piece !== "") rest.push(piece);
          restUnits += piece.length;
          return;
        }
        const whole = rest.length === 0 ? piece : `${rest.join("")}${piece}`;
        rest = [];
        restUnits = 0;
        start = newline + 1;
        line(whole);
      }
    },
  };
  return transport;
}

/** The SDK's HTTP transport, as far as it is used here. */
interface InnerTransport extends Transport {
  readonly hasPerRequestStream?: boolean;
}

/** Puts the guard around a transport of the SDK. */
export function guarded(inner: InnerTransport, guard: Guard): GuardedTransport {
  let over = false;
  const write: Transport["send"] = async (message, options) => {
    guard.sent(message as unknown as JsonObject);
    await inner.send(message, options);
  };
  inner.onmessage = (given) => {
    const message: Message = sortMessage(given as unknown as JsonObject, false);
    const verdict = guard.take(message);
    if (verdict.kind === "pass") {
      transport.onmessage?.(verdict.message as unknown as JSONRPCMessage);
    } else if (verdict.kind === "answer") {
      inner.send(verdict.message as unknown as JSONRPCMessage).catch(() => {});
    }
  };
  const closed = (): void => {
    if (over) return;
    over = true;
    transport.onclose?.();
  };
  inner.onclose = closed;
  inner.onerror = (error) => transport.onerror?.(error);
  const transport: GuardedTransport = {
    get sessionId() {
      return inner.sessionId;
    },
    hasPerRequestStream: inner.hasPerRequestStream ?? false,
    start: () => inner.start(),
    send: write,
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    // The SDK's transport has no place for a reason: callers report it themselves.
    end() {
      inner.close().catch(() => {});
      closed();
    },
  };
  return transport;
}
