/**
 * `fetch` for the SDK's transports: the kernel sends requests, answers are read within limits. Used
 * by bridge.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { parseJson } from "../../../port/parse.ts";
import {
  type KernelSide,
  makeEvents,
  makeKernelHttp,
  readAll,
  type ReportViolation,
  type StreamEvent,
} from "../../mcp/client/mod.ts";
import { ANSWER_JSON, ANSWER_UNITS, STREAM_EVENTS, STREAM_UNITS } from "./limits.ts";

interface PeerFetchParts {
  readonly kernel: Pick<KernelSide, "http" | "httpRead" | "httpCancel">;
  /** The only origin that requests may go to. */
  readonly origin: string;
  /** The peer's name, for messages. */
  readonly name: string;
  readonly report: ReportViolation;
}

/** Units kept of a refusal. */
const MAX_REFUSAL_UNITS = 65_536;
const JSON_TYPE = /^application\/(?:[a-z0-9.-]+\+)?json$/;

/** Makes a `fetch` for one peer's origin. Throws `upstream`, `tooLarge`. */
export function makePeerFetch({ kernel, origin, name, report }: PeerFetchParts): typeof fetch {
  const ask = makeKernelHttp(kernel, { origin, whose: "peer" });
  return async (address, init = {}) => {
    const url = new URL(address instanceof URL ? address.href : String(address));
    const { status, headers, type, bodiless, pieces, stop } = await ask(url, init);
    if (bodiless !== undefined) return bodiless;
    const refusal = refusedBy(status, name);
    if (refusal !== undefined) {
      stop();
      throw refusal;
    }
    if (type === "text/event-stream" && status === 200) {
      return new Response(eventStream(pieces, stop, report), { status, headers });
    }
    const whole = JSON_TYPE.test(type);
    const text = await readAll(pieces, whole ? ANSWER_UNITS : MAX_REFUSAL_UNITS, !whole);
    if (text === undefined) {
      stop();
      report("It answered with more than an answer may hold");
      throw new Fault("tooLarge", "Cannot read the peer's answer: it is too long");
    }
    if (whole) parseAnswer(text, report);
    return new Response(text, { status, headers });
  };
}

/** The fault for a status outside of the protocol; undefined for others. */
function refusedBy(status: number, name: string): Fault | undefined {
  const refuse = (why: string): Fault =>
    new Fault("upstream", `Cannot ask the peer: ${why}`, { detail: { status } });
  if (status === 401) {
    return refuse(
      `it does not know who we are; give it a token that holds (remit a2a add … --token-file FILE) or log in (remit a2a login ${name})`,
    );
  }
  if (status === 403) return refuse("it says that we may not");
  if (status === 429) return refuse("it says that we ask too often");
  if (status >= 300 && status < 400) return refuse("it leads elsewhere, which is not followed");
  return undefined;
}

function parseAnswer(text: string, report: ReportViolation): void {
  try {
    parseJson(text, ANSWER_JSON);
  } catch (cause) {
    report("It answered with what cannot be parsed");
    throw new Fault("upstream", "Cannot read the peer's answer: it does not parse", { cause });
  }
}

/** A stream of events, each checked against our limits and rewritten before the SDK reads it. */
function eventStream(
  pieces: () => Promise<Uint8Array>,
  stop: () => void,
  report: ReportViolation,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = makePeerEvents();
  const decoder = new TextDecoder(), encoder = new TextEncoder();
  let events = 0, units = 0;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      for (;;) {
        const bytes = await pieces();
        if (bytes.length === 0) return controller.close();
        const text = decoder.decode(bytes, { stream: true });
        units += text.length;
        let taken: readonly string[];
        try {
          taken = reader(text);
          events += taken.length;
          if (events > STREAM_EVENTS || units > STREAM_UNITS) {
            throw new Fault("tooLarge", "Cannot read the peer's stream: it says too much");
          }
        } catch (error) {
          report(error instanceof Fault ? error.message : "Its stream does not parse");
          stop();
          return controller.error(error);
        }
        if (taken.length > 0) return controller.enqueue(encoder.encode(taken.join("")));
      }
    },
    cancel: stop,
  }, { highWaterMark: 0 });
}

/** Makes a rewriter of events: pieces in, whole events out. Throws `tooLarge`, `upstream`. */
function makePeerEvents(): (text: string) => readonly string[] {
  const take = makeEvents(
    ANSWER_UNITS,
    () => new Fault("tooLarge", "Cannot read the peer's stream: an event is too long"),
  );
  return (text) => take(text).flatMap(rewritten);
}

function rewritten(event: StreamEvent): readonly string[] {
  if (event.retry !== undefined) return [];
  const { event: kind = "message", data } = event;
  if ((kind !== "message" && kind !== "error") || data.trim() === "") return [];
  try {
    const json = JSON.stringify(parseJson(data, ANSWER_JSON));
    return [`${kind === "error" ? "event: error\n" : ""}data: ${json}\n\n`];
  } catch (cause) {
    throw new Fault("upstream", "Cannot read the peer's stream: an event does not parse", {
      cause,
    });
  }
}
