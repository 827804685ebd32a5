/**
 * Settings of a model service: `TaskRequest.model.config` is the JSON of one of these. The settings
 * are recorded with the request, so they never contain a credential, only the name of a secret.
 * @module
 */
import * as z from "zod";
import { Digest } from "../authority/ids.ts";

/**
 * Formats of calls and thoughts in a model's text; empty: the backend has fields for them.
 * `hermes`: calls behind the markers of any model family; `bare`: an answer that consists of a call
 * alone; `thinking`: the chat template has opened the thought, so the model writes only its end.
 */
export const Dialect = z.enum(["hermes", "fenced", "bare", "think", "thinking"]);
export type Dialect = z.infer<typeof Dialect>;

/** US dollars for a million tokens. */
export const Price = z.object({
  input: z.number().min(0).max(1e6),
  output: z.number().min(0).max(1e6),
  /** Input read from the prompt cache; default: `input`, for Anthropic a tenth of it. */
  cacheRead: z.number().min(0).max(1e6).optional(),
  /** Input written to the prompt cache; default: `input`, for Anthropic a quarter more. */
  cacheWrite: z.number().min(0).max(1e6).optional(),
}).strict();
export type Price = z.infer<typeof Price>;

/** Maximum requests and tokens (input and output) a minute, shared by all tasks. */
export const Rates = z.object({
  requestsPerMinute: z.number().min(0.01).max(1e6).optional(),
  tokensPerMinute: z.number().min(1).max(1e12).optional(),
}).strict();
export type Rates = z.infer<typeof Rates>;

/** Text to redact before messages leave the machine. */
export const RedactRule = z.union([
  z.object({ kind: z.enum(["email", "phone", "card", "iban", "key", "ip"]) }).strict(),
  z.object({ word: z.string().min(3).max(256) }).strict(),
]);
export type RedactRule = z.infer<typeof RedactRule>;

const shared = {
  contextTokens: z.int().min(256).max(100_000_000).optional(),
  outputTokens: z.int().min(1).max(10_000_000).optional(),
  dialect: z.array(Dialect).max(5).optional(),
  temperature: z.number().min(0).max(2).optional(),
  seed: z.int().min(0).max(4_294_967_295).optional(),
};

/** A provider behind one origin: kinds `anthropic`, `openai`, `ollama`. */
export const RemoteConfig = z.object({
  /** The provider's name of the model. */
  model: z.string().min(1).max(256),
  /** Base URL, `http:` or `https:`; nothing but its origin is reached. */
  url: z.url({ protocol: /^https?$/ }).max(1_024),
  /** Name of the secret that holds the key; its origin must be the URL's. */
  secret: z.string().max(64).optional(),
  ...shared,
  /** Absent: unknown, counted as {@link DEAREST}; a local model costs nothing. */
  price: Price.optional(),
  rates: Rates.optional(),
  /** Refuse with `rateLimited` instead of waiting for a rate. */
  noWait: z.boolean().optional(),
  redact: z.array(RedactRule).max(256).optional(),
  /** Report each exchange, without credentials, for a recording. */
  record: z.boolean().optional(),
  /** A recording (JSON lines): answers come from it, nothing is sent. */
  replay: z.string().max(3_000_000).optional(),
}).strict();
export type RemoteConfig = z.infer<typeof RemoteConfig>;

/** The price assumed where it is unknown. */
export const DEAREST: Price = Object.freeze({ input: 30, output: 150 });

/**
 * A device beside the processor, by the interface through which the native engine uses it: a
 * graphics card, or an NPU, for which no build of the engine exists yet.
 */
export const Gpu = z.enum(["cuda", "vulkan", "npu"]);
export type Gpu = z.infer<typeof Gpu>;
/** Builds of the native engine: for the processor alone, or with such a device. */
export type NativeBuild = "cpu" | Gpu;

/** How many of a model's layers a graphics card takes; the processor computes the rest. */
const GpuLayers = z.int().min(0).max(9_999).optional();

/** Chat templates that weights may be used with by name. */
export const ChatTemplateName = z.enum(["chatml", "gemma", "llama3"]);
export type ChatTemplateName = z.infer<typeof ChatTemplateName>;

/** Weights of the store, by digest: kind `gguf`. */
export const LocalConfig = z.object({
  /** Name for people. */
  name: z.string().min(1).max(256),
  weights: Digest,
  /** Size of the weights in bytes. */
  bytes: z.int().min(1).max(64_000_000_000),
  /** `native` is llama.cpp's addon (read and ffi, in a namespace); `wasm` has no rights at all. */
  engine: z.enum(["wasm", "native"]),
  /** Which build of the native engine; absent: the one for the processor alone. */
  gpu: Gpu.optional(),
  /** Absent: all. */
  gpuLayers: GpuLayers,
  /** Chat template, by name or as Jinja; absent: the one in the weights. Base models have none. */
  template: z.union([ChatTemplateName, z.string().max(32_768).regex(/\{[{%]/)]).optional(),
  /** Whether an answer without a call is retried once, restricted to calls. */
  callFirst: z.boolean().optional(),
  ...shared,
}).strict();
export type LocalConfig = z.infer<typeof LocalConfig>;

/** Path of a build's addon, in a folder beside that of the processor's addon `cpu`. */
export function nativeAddonOf(cpu: string, build: NativeBuild): string {
  const at = cpu.lastIndexOf("/");
  return build === "cpu" ? cpu : `${cpu.slice(0, at)}-${build}${cpu.slice(at)}`;
}

/** A provider's key: sent over the pipe at `open`, and nowhere else. */
export interface Credential {
  /** In lower case, as `x-api-key`. */
  readonly header: string;
  /** With its prefix, as `Bearer …`. */
  readonly value: string;
}

/** A provider that receives text. */
export interface AskedProvider {
  /** The model reference. */
  readonly ref: string;
  readonly host: string;
  readonly model: string;
  /** False: readable in transit. */
  readonly encrypted: boolean;
  readonly price: Price | undefined;
}
