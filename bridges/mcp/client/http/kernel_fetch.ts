/**
 * `fetch` for the SDK's HTTP transport: the kernel sends requests, and answers are read within
 * limits. Used by connect.ts.
 * @module
 */
import type { FetchLike } from "@modelcontextprotocol/client";
import { Fault } from "../../../../contracts/base/fault.ts";
import { MCP_LINE } from "../../../../contracts/exchange/mcp_limits.ts";
import { type KernelSide, makeKernelHttp, methodOf } from "../kernel_side.ts";
import { errorAnswer, readMessage } from "../message.ts";
import type { ReportViolation } from "../limits.ts";
import { makeEvents, readAll, type StreamEvent } from "./stream_texts.ts";

interface FetchParts {
  readonly kernel: Pick<KernelSide, "http" | "httpRead" | "httpCancel">;
  /** The only origin that requests may go to. */
  readonly origin: string;
  readonly report: ReportViolation;
}

/** A session's id: visible ASCII, as the protocol says, long enough for a signed token. */
const SESSION = /^[\x21-\x7e]{1,2048}$/;
/** Units kept of an answer that is no message. */
const MAX_REFUSAL_UNITS = 65_536;

/** Makes a `fetch` for one origin. Throws `refused` for others, `tooLarge`, `upstream`. */
export function makeKernelFetch({ kernel, origin, report }: FetchParts): FetchLike {
  const ask = makeKernelHttp(kernel, { origin, whose: "server" });
  return async (address, init = {}) => {
    const { status, headers, type, bodiless, pieces, stop } = await ask(new URL(address), init);
    const session = headers["mcp-session-id"];
    // Every later request would carry the id in a header.
    if (session !== undefined && !SESSION.test(session)) {
      stop();
      report(`It gave a session an id of ${session.length} characters`);
      throw new Fault(
        "upstream",
        "Cannot open the server: the id of its session is none, or too long",
      );
    }
    if (bodiless !== undefined) return bodiless;
    if (type === "text/event-stream" && status === 200) {
      const asked = askedBy(init.body);
      return new Response(eventStream(pieces, stop, { report, asked }), { status, headers });
    }
    const whole = type === "application/json" && status < 300;
    const text = await readAll(pieces, whole ? MCP_LINE : MAX_REFUSAL_UNITS, !whole);
    if (text === undefined) {
      stop();
      report("It answered with more than a message may hold");
      throw new Fault("tooLarge", "Cannot read the answer: it is too long");
    }
    if (whole && methodOf(init) === "POST" && text.trim() !== "") {
      if (askedBy(init.body) === undefined) {
        report("It answered what was no request");
        return new Response(null, { status: 202, headers });
      }
      refuseBad(text, report);
    }
    return new Response(text, { status, headers });
  };
}

/** The id of a request in our body; undefined for notifications and answers, which get no answer. */
function askedBy(body: RequestInit["body"]): string | number | undefined {
  if (typeof body !== "string") return undefined;
  const message: unknown = JSON.parse(body);
  if (typeof message !== "object" || message === null || !("method" in message)) return undefined;
  const id: unknown = "id" in message ? message.id : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

function refuseBad(text: string, report: ReportViolation): void {
  const message = readMessage(text);
  if (message.kind !== "bad") return;
  report(`It sent what is no message: ${message.why}`);
  throw new Fault("upstream", `Cannot read the answer: it is ${message.why}`);
}

function eventStream(
  pieces: () => Promise<Uint8Array>,
  stop: () => void,
  { report, asked }: {
    readonly report: ReportViolation;
    readonly asked: string | number | undefined;
  },
): ReadableStream<Uint8Array> {
  const reader = makeEventReader(report);
  const decoder = new TextDecoder(), encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const bytes = await pieces();
        if (bytes.length === 0) return controller.close();
        let whole: string;
        try {
          whole = reader(decoder.decode(bytes, { stream: true }));
        } catch (error) {
          report("It sent an event that is too long");
          stop();
          if (asked === undefined) return controller.error(error);
          // Answer with an error: without one the SDK would wait until the deadline.
          const refusal = errorAnswer(asked, REFUSED, "its answer is too long");
          controller.enqueue(encoder.encode(`data: ${JSON.stringify(refusal)}\n\n`));
          return controller.close();
        }
        if (whole !== "") return controller.enqueue(encoder.encode(whole));
      }
    },
    cancel: stop,
  }, { highWaterMark: 0 });
}

/** Units of an event's id, which is sent back in a header. */
const MAX_ID_UNITS = 1_024;
/** Bounds of a reconnection delay that a server may ask for, in milliseconds. */
const RETRY_MS = { min: 100, max: 30_000 } as const;
const INTERNAL = -32_603;
const REFUSED = -32_000;

/** Makes a rewriter of server-sent events: pieces in, whole checked events out. Throws for one that is too long. */
export function makeEventReader(report: ReportViolation): (text: string) => string {
  const take = makeEvents(MCP_LINE, () => new RangeError("an event that is too long"));
  return (text) => take(text).map((event) => rewritten(event, report)).join("");
}

function rewritten(event: StreamEvent, report: ReportViolation): string {
  if (event.retry !== undefined) {
    return `retry: ${Math.min(RETRY_MS.max, Math.max(RETRY_MS.min, event.retry))}\n`;
  }
  const { id, event: kind = "message", data } = event;
  let out = "";
  if (id !== undefined && id.length > MAX_ID_UNITS) {
    report("It numbered an event with something too long");
  } else if (id !== undefined) out += `id: ${id}\n`;
  // An event without a message still carries an id for resuming the stream.
  const message = kind !== "message" ? undefined : data.trim() === "" ? "" : checked(data, report);
  if (message !== undefined) out += `data: ${message}\n`;
  return out === "" ? "" : `${out}\n`;
}

/** The message on one line. A malformed answer becomes an error, so that nobody waits for it. */
function checked(text: string, report: ReportViolation): string | undefined {
  const message = readMessage(text);
  if (message.kind !== "bad") return text.includes("\n") ? JSON.stringify(JSON.parse(text)) : text;
  report(`It sent what is no message: ${message.why}`);
  if (message.answers === undefined) return undefined;
  return JSON.stringify(errorAnswer(message.answers, INTERNAL, `The answer is ${message.why}`));
}
