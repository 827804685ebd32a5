/** The language-model contract. @module */
import * as z from "zod";
import { ChatMessage, ToolCall } from "./chat.ts";
import { Price } from "./model_config.ts";
import { ToolDescriptor } from "../tool/tool.ts";

/** A backend's description of itself; never a permission. */
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
  /** Settings of a request that the backend honours; it ignores others. */
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
  /** Part of the input read from, and written to, the provider's prompt cache. */
  cacheReadTokens: z.int().min(0).optional(),
  cacheWriteTokens: z.int().min(0).optional(),
}).strict();
export type TokenUsage = z.infer<typeof TokenUsage>;

/** Why a model stopped; `paused`: the provider must be asked again for the rest. */
export const FinishReason = z.enum([
  "stop",
  "toolCalls",
  "length",
  "contentFilter",
  "cancelled",
  "paused",
]);
export type FinishReason = z.infer<typeof FinishReason>;

/** One request. The service stores nothing of it. */
export const InferenceRequest = z.object({
  messages: z.array(ChatMessage).min(1).max(10_000),
  tools: z.array(ToolDescriptor).max(512),
  maxTokens: z.int().min(1).max(10_000_000),
  temperature: z.number().min(0).max(2).optional(),
  /** The same seed and request give the same answer, if the backend supports seeds. */
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
  /** Number of passages redacted before the text left the machine. */
  redacted: z.int().min(0).max(1_000_000_000).optional(),
}).strict();
export type InferenceResponse = z.infer<typeof InferenceResponse>;

/** A piece of a response while it is decoded. `rationale` is optional and never a result. */
export const StreamChunk = z.object({
  textDelta: z.string().max(65_536).optional(),
  toolCallDelta: ToolCall.partial().optional(),
  rationale: z.string().max(65_536).optional(),
  /** Length in characters, sent in place of `rationale` to those who may not see it. */
  thought: z.int().min(0).max(65_536).optional(),
  /** Progress of a local model in reading the request, tokens. */
  reading: z.object({ done: z.int().min(0).max(1e9), total: z.int().min(0).max(1e9) }).strict()
    .optional(),
}).strict();
export type StreamChunk = z.infer<typeof StreamChunk>;
/** How far a request was read: tokens. */
export type Reading = NonNullable<StreamChunk["reading"]>;

/** How an inference is made. */
export interface InferOptions {
  readonly onChunk?: (chunk: StreamChunk) => void;
  /** Receives each exchange with a provider as JSON text without credentials (a line of a recording). */
  readonly onWire?: ((exchange: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/** Stateless inference: no session, no tools, no credential of the caller's. */
export interface LanguageModel {
  info(): Promise<ModelInfo>;
  /** Streams to `onChunk`, resolves with the whole response. Rejects with a fault. */
  infer(request: InferenceRequest, options: InferOptions): Promise<InferenceResponse>;
}

/** Vectors of texts, in the order of the texts. */
export interface Embeddings {
  /** Vectors of equal dimension and Euclidean norm 1; all zero for an empty text. */
  readonly vectors: readonly Float32Array[];
  readonly inputTokens: number;
}

/** Maps texts to vectors; similar texts are near each other. */
export interface TextEmbedder {
  /** `outputTokens` is the dimension of a vector. */
  info(): Promise<ModelInfo>;
  /** At most 256 texts, each within `contextTokens`: a longer one is cut. Rejects with a fault. */
  embed(
    texts: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<Embeddings>;
}
