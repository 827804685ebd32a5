/**
 * What the log says of text that leaves this machine for a model: `modelQueued` where it waits for its
 * provider's rate, `modelAsked` before each request, `modelFailed` when no answer came, and else the answer's own event (`inferred`), joined by nonce.
 * Bodies hold counts and names; the text itself lies in the private part of `inferred`.
 * @module
 */
import type {
  FaultCode,
  InferenceRequest,
  JsonObject,
  ModelInfo,
  NewEvent,
  ProcessRow,
} from "../../contracts/mod.ts";
import { CHARS_A_TOKEN } from "../../contracts/tokens.ts";
import { makeModelCost } from "./cost.ts";

/** How much leaves. */
export interface EgressSize {
  /** UTF-8 bytes of texts, calls and tools; the provider's envelope is not counted. */
  readonly bytes: number;
  /** An estimate. */
  readonly tokens: number;
}

/** What a request is for. */
export type EgressUse = "inference" | "aside" | "summary" | "embedding";

/** A request that is about to leave. */
export interface Egress extends EgressSize {
  readonly use: EgressUse;
  /** The provider's host, with its port where it is not the usual one. */
  readonly host: string;
  readonly model: Pick<ModelInfo, "id" | "backend" | "price">;
  readonly nonce: string;
  /** Messages of the conversation, or texts to be embedded. */
  readonly texts: number;
  readonly tools: number;
}

/** Whose request it is. */
export type EgressSubject = Pick<
  ProcessRow,
  "session" | "principal" | "conversation" | "turn" | "pid" | "label" | "colour"
>;

/** Counts what a request sends. */
export function requestSize(
  request: Pick<InferenceRequest, "messages" | "tools" | "responseSchema">,
): EgressSize {
  const texts: string[] = [request.responseSchema ?? ""];
  for (const { content, toolCalls = [] } of request.messages) {
    texts.push(content);
    for (const call of toolCalls) texts.push(call.name, call.arguments, call.echo ?? "");
  }
  for (const { name, description, paramSchema } of request.tools) {
    texts.push(name, description, paramSchema);
  }
  return textsSize(texts);
}

/** Counts what texts to be embedded send. */
export function textsSize(texts: readonly string[]): EgressSize {
  let characters = 0, bytes = 0;
  for (const text of texts) {
    characters += text.length;
    bytes += utf8Length(text);
  }
  return { bytes, tokens: Math.ceil(characters / CHARS_A_TOKEN) };
}

/**
 * The event before a request leaves, with what its input may cost in US dollars: commit it first, so
 * that an attempt that fails is on record.
 */
export function modelAsked(subject: EgressSubject, egress: Egress): NewEvent {
  const { session, principal, conversation, turn, pid, label, colour } = subject;
  const { use, host, model, nonce, texts, tools, bytes, tokens } = egress;
  return {
    kind: "modelAsked",
    body: {
      ...{ session, principal, conversation, turn, pid, label, colour },
      ...{ use, host, model: model.id, backend: model.backend, nonce },
      ...{ texts, tools, bytes, tokens, money: makeModelCost(model.price).ofInput(tokens) },
    },
  };
}

/** The event of a request that waits for its provider's rate, about so many milliseconds. */
export function modelQueued(
  { pid, turn }: Pick<ProcessRow, "pid" | "turn">,
  { host, ms }: { readonly host: string; readonly ms: number },
): NewEvent {
  return { kind: "modelQueued", body: { pid, turn, host, ms } };
}

/** The event of vectors that came: an inference beside the conversation, of which no text is kept. */
export function embedded(
  { pid, turn }: Pick<ProcessRow, "pid" | "turn">,
  { model, nonce, inputTokens }: {
    readonly model: Pick<ModelInfo, "id" | "backend" | "price">;
    readonly nonce: string;
    readonly inputTokens: number;
  },
): NewEvent {
  const money = makeModelCost(model.price).of({ inputTokens, outputTokens: 0 });
  return {
    kind: "inferred",
    body: {
      ...{ pid, turn, model: model.id, backend: model.backend, nonce, inputTokens },
      ...{ outputTokens: 0, money, finish: "stop", aside: true },
    },
  };
}

/** The event of a request to which no whole answer came. A provider's words are private. */
export function modelFailed(
  pid: ProcessRow["pid"],
  { nonce, code, message, ms }: {
    readonly nonce: string;
    readonly code: FaultCode | "bug";
    readonly message: string;
    /** Milliseconds since it was asked. */
    readonly ms: number;
  },
): NewEvent {
  const body: JsonObject = { pid, nonce, code, ms };
  return { kind: "modelFailed", body, private: { error: message.toWellFormed().slice(0, 2_048) } };
}

/** Bytes of a text in UTF-8; a lone surrogate counts three, as it is sent as U+FFFD. */
function utf8Length(text: string): number {
  let bytes = text.length;
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    // A pair is four bytes: two for each half.
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.charCodeAt(n + 1);
      if (next < 0xdc00 || next > 0xdfff || Number.isNaN(next)) continue;
      n += 1;
    }
  }
  return bytes;
}
