/** A provider that echoes the received key, in every way that its protocol allows. */
import { anthropicEvent, openaiEvent } from "../../models/_fixture/providers/mod.ts";
import {
  type Loopback,
  type Reply,
  serveLoopback,
} from "../../models/_fixture/providers/server.ts";

/** The protocol of the answers. */
export type EchoKind = "anthropic" | "openai";

/** The next echo. */
export type Echo =
  /** The key in headers, in text whole and in pieces, in thoughts, and in a call's id, name and arguments. */
  | "answer"
  /** An error whose message, code and headers contain the key. */
  | "error"
  /** An error that is not JSON and contains the key. */
  | "page"
  /** A redirect to a path that contains the key. */
  | "redirect"
  /** An error within a stream. */
  | "breaks"
  /** Text with the key as base64, hexadecimal digits, in URLs and JSON, and then an error with the same. */
  | "encoded"
  /** A beginning with the key, and then nothing. */
  | "silence";

/** An echoing provider. */
export interface EchoingProvider extends Loopback {
  readonly url: string;
  /** The key received last. */
  readonly key: () => string;
}

/** Serves the echoes, in order, and the last one for ever. */
export function serveEchoes(kind: EchoKind, echoes: readonly Echo[]): EchoingProvider {
  let key = "";
  let next = 0;
  const loopback = serveLoopback(({ headers }): Reply => {
    key = headers["x-api-key"] ?? headers["authorization"]?.replace(/^Bearer /, "") ?? "";
    const echo = echoes[Math.min(next++, echoes.length - 1)] ?? "error";
    return replyOf(kind, echo, key);
  });
  return Object.freeze({ ...loopback, url: `${loopback.origin}/v1`, key: () => key });
}

/** The key as JSON that escapes all its characters. */
function numbered(key: string): string {
  return [...key].map((char) => `\\u00${char.charCodeAt(0).toString(16).padStart(2, "0")}`).join(
    "",
  );
}

/** The key as programs write it when they log what they received. */
function encoded(key: string): string {
  return [`Bearer ${key}`, `x${key}`, `xy${key}\n`].flatMap((text) => {
    const bytes = new TextEncoder().encode(text);
    return [
      ...[bytes.toBase64(), bytes.toBase64({ alphabet: "base64url" })],
      ...[bytes.toHex(), bytes.toHex().toUpperCase(), numbered(key)],
      ...[encodeURIComponent(text), new URLSearchParams({ text }).toString()],
      bytes.toHex().replaceAll(/../g, "%$&"),
    ];
  }).join(" ");
}

function replyOf(kind: EchoKind, echo: Echo, key: string): Reply {
  const headers = {
    "content-type": "text/event-stream",
    "x-request-id": key,
    "request-id": key,
    "set-cookie": `key=${encodeURIComponent(key)}`,
    "x-echo": `you sent ${key}`,
    "retry-after": key,
  };
  const message = `Incorrect API key provided: ${key} (${encodeURIComponent("see")} ${key}).`;
  const error = { type: "authentication_error", code: key, param: key, message };
  switch (echo) {
    case "answer":
      return { headers, pieces: kind === "anthropic" ? anthropic(key) : openai(key) };
    case "error":
      return { status: 401, headers, pieces: [JSON.stringify({ type: "error", error })] };
    case "page":
      return { status: 418, headers, pieces: [`<h1>${key}</h1>${message.repeat(3)}`] };
    case "redirect":
      return {
        status: 302,
        headers: { ...headers, location: `/elsewhere/${encodeURIComponent(key)}?k=${key}` },
        pieces: [key],
      };
    case "breaks":
      return {
        headers,
        pieces: kind === "anthropic"
          ? [anthropicEvent({ type: "error", error })]
          : [openaiEvent({ error })],
      };
    case "encoded": {
      const said = encoded(key);
      const failed = { type: "error", error: { ...error, code: "no", param: "no", message: said } };
      const text = { choices: [{ index: 0, delta: { content: said }, finish_reason: null }] };
      return {
        headers: { ...headers, "x-echo": said },
        pieces: kind === "openai" ? [openaiEvent(text), openaiEvent(failed)] : [
          anthropicEvent({
            type: "content_block_start",
            index: 0,
            content_block: { type: "text" },
          }),
          anthropicEvent({
            type: "content_block_delta",
            index: 0,
            delta: { type: "text_delta", text: said },
          }),
          anthropicEvent(failed),
        ],
      };
    }
    case "silence":
      return {
        headers,
        pieces: [
          ...(kind === "anthropic" ? anthropic(key) : openai(key)).slice(0, 6),
          new Promise(() => undefined),
        ],
      };
  }
}

/** Texts that contain the key: whole, in halves, character by character. */
function texts(key: string): readonly string[] {
  const half = key.length >> 1;
  return [`[${key}]`, key.slice(0, half), key.slice(half), " ", ...key, " end"];
}

function anthropic(key: string): readonly string[] {
  const block = (index: number, content_block: object, deltas: readonly object[]): string[] => [
    anthropicEvent({ type: "content_block_start", index, content_block }),
    ...deltas.map((delta) => anthropicEvent({ type: "content_block_delta", index, delta })),
    anthropicEvent({ type: "content_block_stop", index }),
  ];
  const says = texts(key).map((text) => ({ type: "text_delta", text }));
  const hidden = anthropicEvent({
    type: "content_block_delta",
    index: 1,
    delta: { type: "text_delta", text: "HERE" },
  });
  const usage = { input_tokens: 11, output_tokens: 1 };
  return [
    anthropicEvent({
      type: "message_start",
      message: {
        id: key,
        type: "message",
        role: "assistant",
        model: key,
        content: [],
        stop_reason: null,
        usage,
      },
    }),
    `: ${key}\n\n`,
    ...block(0, { type: "thinking", thinking: "", signature: "" }, [
      ...texts(key).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: key },
    ]),
    ...block(1, { type: "text", text: "" }, says).flatMap((event, n) =>
      n === 1 ? [hidden.replace("HERE", numbered(key)), event] : [event]
    ),
    ...block(
      2,
      { type: "tool_use", id: key, name: key, input: {} },
      argumentsOf(key).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    ),
    ...block(
      3,
      { type: "tool_use", id: "toolu_2", name: "file_read", input: {} },
      argumentsOf(key).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    ),
    anthropicEvent({
      type: "message_delta",
      delta: { stop_reason: "tool_use", stop_sequence: key },
      usage: { output_tokens: 7 },
    }),
    anthropicEvent({ type: "message_stop" }),
  ];
}

/** A path that contains the key, as JSON in three pieces that cut the key. */
function argumentsOf(key: string): readonly string[] {
  const json = JSON.stringify({ path: `plans/${key}` });
  const third = Math.floor(json.length / 3);
  return [json.slice(0, third), json.slice(third, 2 * third), json.slice(2 * third)];
}

function openai(key: string): readonly string[] {
  const head = {
    id: key,
    object: "chat.completion.chunk",
    created: 1,
    model: key,
    system_fingerprint: key,
  };
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    openaiEvent({ ...head, choices: [{ index: 0, delta, finish_reason }] });
  const call = (index: number, id: string, name: string): readonly string[] => [
    chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
    ...argumentsOf(key).map((text) =>
      chunk({ tool_calls: [{ index, function: { arguments: text } }] })
    ),
  ];
  return [
    `: ${key}\n\n`,
    chunk({ role: "assistant", content: "" }),
    ...texts(key).map((reasoning_content) => chunk({ reasoning_content })),
    ...texts(key).map((content) => chunk({ content })),
    chunk({ content: "HERE" }).replace("HERE", numbered(key)),
    ...call(0, key, key),
    ...call(1, "call_2", "file_read"),
    chunk({}, "tool_calls"),
    openaiEvent({ ...head, choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } }),
    "data: [DONE]\n\n",
  ];
}
