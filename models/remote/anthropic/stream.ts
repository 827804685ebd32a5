/** Converts Anthropic's event stream to deltas. Used by open.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { FinishReason } from "../../../contracts/model/model.ts";
import type { Delta } from "../assemble.ts";
import { again } from "../retry.ts";
import { type Asked, faultOfStreamError } from "../provider_fault.ts";
import { type Fields, fieldsOf, numberOf, parseEvent, stringOf } from "../wire_json.ts";

export interface AnthropicStream {
  readonly asked: Asked;
  readonly take: (delta: Delta) => void;
  /** Calls of this tool are the text of the answer: the emulation of structured output. */
  readonly answerTool: string | undefined;
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolCalls",
  refusal: "contentFilter",
  pause_turn: "paused",
};

type Block = { readonly kind: "text" | "held" | "thinking" | "answer" | "other" } | {
  readonly kind: "call";
  readonly key: string;
  /** Arguments sent at the start of a call, used if no pieces follow. */
  readonly whole: string;
  pieces: number;
};

/**
 * Makes a reader of events in order. Unknown kinds of events, blocks and deltas are skipped, as the API's
 * versioning policy asks. Throws faults.
 */
export function makeAnthropicReader(
  { asked, take, answerTool }: AnthropicStream,
): { event(data: string): void } {
  const blocks = new Map<unknown, Block>();
  let made = 0;
  let reason: FinishReason | undefined;
  /** Text beside the answer tool: it is the answer if the tool is not called. */
  let held = "";
  let answered = false;
  let explained = "";

  const begin = (index: unknown, block: Fields): void => {
    switch (block["type"]) {
      case "text":
        blocks.set(index, { kind: answerTool === undefined ? "text" : "held" });
        return text(index, stringOf(block["text"]));
      case "thinking":
        blocks.set(index, { kind: "thinking" });
        return text(index, stringOf(block["thinking"]));
      case "tool_use": {
        const name = stringOf(block["name"]);
        if (name === answerTool) {
          answered = true;
          return void blocks.set(index, { kind: "answer" });
        }
        const key = String(made++);
        const input = fieldsOf(block["input"]);
        const whole = Object.keys(input).length === 0 ? "" : JSON.stringify(input);
        blocks.set(index, { kind: "call", key, whole, pieces: 0 });
        return take({ kind: "callStart", key, id: stringOf(block["id"]), name });
      }
      default:
        blocks.set(index, { kind: "other" });
    }
  };
  const text = (index: unknown, piece: string): void => {
    if (piece === "") return;
    const block = blocks.get(index);
    if (block === undefined) throw broken("a piece of nothing");
    if (block.kind === "call") {
      block.pieces += 1;
      take({ kind: "callDelta", key: block.key, text: piece });
    } else if (block.kind === "thinking") take({ kind: "rationale", text: piece });
    else if (block.kind === "held") held += piece;
    else if (block.kind !== "other") take({ kind: "text", text: piece });
  };
  const end = (index: unknown): void => {
    const block = blocks.get(index);
    blocks.delete(index);
    if (block?.kind === "call" && block.pieces === 0 && block.whole !== "") {
      take({ kind: "callDelta", key: block.key, text: block.whole });
    }
  };
  const broken = (what: string): Fault =>
    new Fault("upstream", `Cannot infer: ${asked.host} sends ${what}`, { detail: again() });

  return Object.freeze({
    event(data: string): void {
      const event = parseEvent(data, asked.host);
      const delta = fieldsOf(event["delta"]);
      switch (event["type"]) {
        case "message_start":
          return take(usageOf(fieldsOf(fieldsOf(event["message"])["usage"])));
        case "content_block_start":
          return begin(event["index"], fieldsOf(event["content_block"]));
        case "content_block_delta":
          return text(event["index"], pieceOf(delta));
        case "content_block_stop":
          return end(event["index"]);
        case "message_delta":
          if (typeof delta["stop_reason"] === "string") {
            reason = REASONS[delta["stop_reason"]] ?? "stop";
          }
          // The explanation of a refusal is not a block of the answer.
          explained = stringOf(fieldsOf(delta["stop_details"])["explanation"]);
          return take(usageOf(fieldsOf(event["usage"])));
        case "message_stop":
          if (blocks.size > 0) throw broken("an end within a block");
          if (reason === undefined) throw broken("an end without a reason");
          if (!answered && held !== "") take({ kind: "text", text: held });
          if (reason === "contentFilter" && explained !== "") {
            take({ kind: "text", text: explained });
          }
          if (reason === "toolCalls" && made === 0) reason = "stop";
          return take({ kind: "finish", reason });
        case "error":
          throw faultOfStreamError(event["error"], asked);
      }
    },
  });
}

function pieceOf(delta: Fields): string {
  switch (delta["type"]) {
    case "text_delta":
      return stringOf(delta["text"]);
    case "thinking_delta":
      return stringOf(delta["thinking"]);
    case "input_json_delta":
      return stringOf(delta["partial_json"]);
    default:
      return "";
  }
}

/** Tokens read from or written to a cache count as input, too. */
function usageOf(usage: Fields): Delta {
  const input = numberOf(usage["input_tokens"]);
  const read = numberOf(usage["cache_read_input_tokens"]) ?? 0;
  const written = numberOf(usage["cache_creation_input_tokens"]) ?? 0;
  const output = numberOf(usage["output_tokens"]);
  return {
    kind: "usage",
    ...(input === undefined ? {} : {
      inputTokens: input + read + written,
      ...(read === 0 ? {} : { cacheReadTokens: read }),
      ...(written === 0 ? {} : { cacheWriteTokens: written }),
    }),
    ...(output === undefined ? {} : { outputTokens: output }),
  };
}
