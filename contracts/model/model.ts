/** The language-model contract. @module */
import * as z from "zod";
import { ChatMessage, ToolCall } from "./chat.ts";
import { Price } from "./model_config.ts";
import { ToolDescriptor } from "../tool/tool.ts";

/** What a backend says of itself. It never says what a session may do. */
export const ModelInfo = z.object({
  /** Content-addressed where there are weights; `KIND:NAME` otherwise. */
  id: z.string().max(256),
  displayName: z.string().max(256),
  arch: z.string().max(64),
  contextTokens: z.int().min(1).max(100_000_000),
  outputTokens: z.int().min(1).max(10_000_000),
  backend: z.string().max(64),
  quantisation: z.string().max(64).optional(),
  supportsTools: z.boolean(),
  /** True when text leaves this machine. */
  remote: z.boolean(),
  /** What of a request the backend heeds; the rest it ignores. */
  knobs: z.array(z.enum(["temperature", "seed", "stopSequences", "responseSchema"])).max(8)
    .optional(),
  /** US dollars for a million tokens; absent when free. */
  price: Price.optional(),
}).strict();
export type ModelInfo = z.infer<typeof ModelInfo>;

/** Tokens that one inference used. */
export const TokenUsage = z.object({
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  /** Of the input: what the provider had in its prompt cache, and what it put there. */
  cacheReadTokens: z.int().min(0).optional(),
  cacheWriteTokens: z.int().min(0).optional(),
}).strict();
export type TokenUsage = z.infer<typeof TokenUsage>;

/** Why a model stopped; `paused`: its provider wants to be asked again, for the rest. */
export const FinishReason = z.enum([
  "stop",
  "toolCalls",
  "length",
  "contentFilter",
  "cancelled",
  "paused",
]);
export type FinishReason = z.infer<typeof FinishReason>;

/** One request. The service keeps nothing of it afterwards. */
export const InferenceRequest = z.object({
  messages: z.array(ChatMessage).min(1).max(10_000),
  tools: z.array(ToolDescriptor).max(512),
  maxTokens: z.int().min(1).max(10_000_000),
  temperature: z.number().min(0).max(2).optional(),
  /** Where the backend has it: the same seed and request give the same answer. */
  seed: z.int().min(0).max(4_294_967_295).optional(),
  stopSequences: z.array(z.string().max(256)).max(16).optional(),
  /** JSON Schema for the final answer, as JSON text. */
  responseSchema: z.string().max(65_536).optional(),
  /** Correlates the request with the audit log. */
  nonce: z.string().max(64),
}).strict();
export type InferenceRequest = z.infer<typeof InferenceRequest>;

/** One finished response. */
export const InferenceResponse = z.object({
  message: ChatMessage,
  usage: TokenUsage,
  finishReason: FinishReason,
  /** How many places were taken out of the texts before they left the machine. */
  redacted: z.int().min(0).max(1_000_000_000).optional(),
}).strict();
export type InferenceResponse = z.infer<typeof InferenceResponse>;

/** A piece of a response while it is decoded. `rationale` is optional and never a result. */
export const StreamChunk = z.object({
  textDelta: z.string().max(65_536).optional(),
  toolCallDelta: ToolCall.partial().optional(),
  rationale: z.string().max(65_536).optional(),
  /** Characters of a rationale, in its place: for who is told that a model thinks, and not what. */
  thought: z.int().min(0).max(65_536).optional(),
  /** How much of the request a model of this machine has read, before its first token: tokens. */
  reading: z.object({ done: z.int().min(0).max(1e9), total: z.int().min(0).max(1e9) }).strict()
    .optional(),
}).strict();
export type StreamChunk = z.infer<typeof StreamChunk>;
/** How far a request was read: tokens. */
export type Reading = NonNullable<StreamChunk["reading"]>;

/** How an inference is made. */
export interface InferOptions {
  readonly onChunk?: (chunk: StreamChunk) => void;
  /** Hears each exchange with a provider, JSON text without credentials (a line of a recording). */
  readonly onWire?: ((exchange: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/** Stateless inference: no session, no tools, no credential of the caller's. */
export interface LanguageModel {
  info(): Promise<ModelInfo>;
  /** Streams to `onChunk`, resolves with the whole response. Rejects with a fault. */
  infer(request: InferenceRequest, options: InferOptions): Promise<InferenceResponse>;
}

/** Vectors of texts, in their order. */
export interface Embeddings {
  /** All of one length; of length 1 in the Euclidean norm, or all zero for a text without content. */
  readonly vectors: readonly Float32Array[];
  readonly inputTokens: number;
}

/** Texts as points: near ones mean alike. */
export interface TextEmbedder {
  /** `outputTokens` is the length of a vector. */
  info(): Promise<ModelInfo>;
  /** At most 256 texts, each within `contextTokens`: a longer one is cut. Rejects with a fault. */
  embed(
    texts: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<Embeddings>;
}
