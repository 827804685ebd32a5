/** Hostile servers: attacks that a model service must contain, in the form of each protocol. @module */
import { anthropicEvent, streamAnthropic } from "./anthropic.ts";
import { ollamaLine } from "./ollama.ts";
import { openaiEvent } from "./openai.ts";
import type { Piece } from "./script.ts";
import { type Loopback, serveLoopback } from "./server.ts";

/** The protocol of the attack. */
export type HostileProtocol = "anthropic" | "openai" | "ollama";

/** A hostile server. */
export interface Hostile extends Loopback {
  /** The base URL, as for an honest server. */
  readonly url: string;
}

const MIB = 1_048_576;
const BASE: Readonly<Record<HostileProtocol, string>> = {
  anthropic: "/v1",
  openai: "/v1",
  ollama: "",
};
const TYPE: Readonly<Record<HostileProtocol, string>> = {
  anthropic: "text/event-stream",
  openai: "text/event-stream",
  ollama: "application/x-ndjson",
};

/** Answers each request with the pieces of `pieces`; `/api/show` of Ollama gets an honest answer. */
export function serveHostile(
  protocol: HostileProtocol,
  pieces: () => Iterable<Piece> | AsyncIterable<Piece>,
  { cut = false, status = 200, headers = {} }: {
    readonly cut?: boolean;
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Hostile {
  const loopback = serveLoopback(({ path }) =>
    path === "/api/show"
      ? { pieces: [JSON.stringify(SHOWN)], headers: { "content-type": "application/json" } }
      : { pieces: pieces(), cut, status, headers: { "content-type": TYPE[protocol], ...headers } }
  );
  return Object.freeze<Hostile>({ ...loopback, url: `${loopback.origin}${BASE[protocol]}` });
}

const SHOWN = {
  details: { family: "llama" },
  model_info: { "general.architecture": "llama", "llama.context_length": 8_192 },
  capabilities: ["completion", "tools"],
};

/** The events before the first delta of text. */
function opening(protocol: HostileProtocol): string {
  if (protocol !== "anthropic") return "";
  // Only the message's start, a ping and the block's start.
  const pieces = [...streamAnthropic({ text: ["x"], cut: true }, "m")];
  return pieces.slice(0, 3).join("");
}

/** One delta of text in the protocol's form. */
export function deltaOf(protocol: HostileProtocol, text: string): string {
  switch (protocol) {
    case "anthropic":
      return anthropicEvent({
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text },
      });
    case "openai":
      return openaiEvent({
        id: "c",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta: { role: "assistant", content: text }, finish_reason: null }],
      });
    case "ollama":
      return ollamaLine({ model: "m", message: { role: "assistant", content: text }, done: false });
  }
}

/** Valid deltas of 1,000 characters for as long as the client reads. */
export function serveEndless(protocol: HostileProtocol): Hostile {
  return serveHostile(protocol, function* () {
    yield opening(protocol);
    for (;;) yield deltaOf(protocol, "endless ".repeat(125));
  });
}

/** Empty deltas for as long as the client reads: no text ever reaches a limit. */
export function serveEndlessNothing(protocol: HostileProtocol): Hostile {
  const nothing = deltaOf(protocol, "").repeat(500);
  return serveHostile(protocol, function* () {
    yield opening(protocol);
    for (;;) yield nothing;
  });
}

/** Comments (blank lines for Ollama) for as long as the client reads. */
export function serveEndlessComments(protocol: HostileProtocol): Hostile {
  const comments = (protocol === "ollama" ? "\n" : ": still here\n\n").repeat(4_000);
  return serveHostile(protocol, function* () {
    yield opening(protocol);
    for (;;) yield comments;
  });
}

/** A single delta of a gibibyte, whose line never ends. */
export function serveGigabyte(protocol: HostileProtocol): Hostile {
  const [before = ""] = deltaOf(protocol, "HERE").split("HERE");
  const piece = new Uint8Array(MIB).fill("a".charCodeAt(0));
  return serveHostile(protocol, function* () {
    yield opening(protocol) + before;
    for (let sent = 0; sent < 1_024; sent++) yield piece;
  });
}

/** An error of a gibibyte: a client that reads all of it fills its memory. */
export function serveGigabyteError(protocol: HostileProtocol): Hostile {
  const piece = new Uint8Array(MIB).fill("e".charCodeAt(0));
  return serveHostile(protocol, function* () {
    yield '{"error":{"type":"api_error","message":"';
    for (let sent = 0; sent < 1_024; sent++) yield piece;
  }, { status: 400, headers: { "content-type": "application/json" } });
}

/** One byte, and then silence until `silence` resolves. */
export function serveSlow(protocol: HostileProtocol, silence: Promise<unknown>): Hostile {
  const byte = deltaOf(protocol, "x").slice(0, 1);
  return serveHostile(protocol, () => [byte, silence]);
}

/** Half of the text, then a closed connection. */
export function serveCut(protocol: HostileProtocol): Hostile {
  return serveHostile(
    protocol,
    () => [opening(protocol) + deltaOf(protocol, "half of")],
    { cut: true },
  );
}

/** Half of the text, then the regular end of an answer. */
export function serveHalf(protocol: HostileProtocol): Hostile {
  return serveHostile(protocol, () => [opening(protocol) + deltaOf(protocol, "half of")]);
}

/** A delta whose text is not UTF-8. */
export function serveNotUtf8(protocol: HostileProtocol): Hostile {
  const [before = "", after = ""] = deltaOf(protocol, "HERE").split("HERE");
  return serveHostile(
    protocol,
    () => [opening(protocol) + before, Uint8Array.of(0xff, 0xc0, 0xaf, 0x80), after],
  );
}

/** A line that is not JSON, among valid ones. */
export function serveMalformed(protocol: HostileProtocol): Hostile {
  const line = protocol === "ollama"
    ? '{"message":{"content":"br\n'
    : 'data: {"choices":[{"del\n\n';
  return serveHostile(
    protocol,
    () => [opening(protocol) + deltaOf(protocol, "good "), line, deltaOf(protocol, "again")],
  );
}

/** Redirects each request to `target`, another origin. */
export function serveRedirect(
  protocol: HostileProtocol,
  target: string,
  status: 301 | 302 | 303 | 307 | 308 = 307,
): Hostile {
  return serveHostile(protocol, () => [], { status, headers: { location: target } });
}

/** A port that closes each connection before an answer; `tried` counts them. */
export function serveReset(): AsyncDisposable & {
  readonly url: string;
  readonly tried: () => number;
} {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let tried = 0;
  const done = (async () => {
    for await (const connection of listener) {
      tried += 1;
      connection.close();
    }
  })();
  return Object.freeze({
    url: `http://127.0.0.1:${listener.addr.port}`,
    tried: () => tried,
    async [Symbol.asyncDispose]() {
      listener.close();
      await done;
    },
  });
}

/** The URL of a port without a listener. */
export function nobody(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}`;
}
