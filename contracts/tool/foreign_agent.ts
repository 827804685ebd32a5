/** Foreign agents: programs that speak the Agent Client Protocol and run within walls over a copy of a folder. @module */
import * as z from "zod";
import { Price } from "../model/model_config.ts";
import { CommandName } from "./command.ts";

/** Provider protocols that a relay understands. */
export const ProviderWire = z.enum(["anthropic", "openai", "gemini"]);
export type ProviderWire = z.infer<typeof ProviderWire>;

const path = z.string().regex(/^\/[^\0,\n]{1,1023}$/);

/** One agent, as `remit agent add` stores it and the kernel receives it. */
export const ForeignAgent = z.object({
  name: CommandName,
  /** Its row in the built-in table; absent for the operator's own command. */
  row: CommandName.optional(),
  /** Folder of its files, mounted read-only at its own path; absent if the machine's programs suffice. */
  tree: path.optional(),
  /** Content of that folder when the agent was added; a run with a different content is refused. */
  pin: z.object({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    files: z.int().min(0),
    bytes: z.int().min(0),
    /** `NAME@VERSION` from its package manager, and the digest of the download. */
    package: z.string().max(256).optional(),
    integrity: z.string().max(256).optional(),
  }).strict().optional(),
  /** The program and its arguments, within the walls. */
  words: z.array(z.string().min(1).max(1_024)).min(1).max(64),
  /** Its environment. `${BASE}` is the relay's address within the walls. */
  env: z.record(z.string().regex(/^(?!LD_)[A-Za-z_][A-Za-z0-9_]{0,63}$/), z.string().max(2_048)),
  /** Files of its home folder, written before it starts; `${BASE}` as above. */
  files: z.record(
    z.string().regex(/^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+){0,7}$/),
    z.string().max(16_384),
  ),
  /** The provider that it may use; absent: none. */
  provider: z.object({
    wire: ProviderWire,
    /** `https://HOST[:PORT]`; plain HTTP only on this machine. */
    origin: z.string().regex(
      /^(https:\/\/[a-z0-9.-]{1,253}(:\d{1,5})?|http:\/\/(127\.0\.0\.1|localhost):\d{1,5})$/,
    ),
    /** Name of a secret of `remit secret` for that origin. */
    secret: z.string().min(1).max(128),
    /** The model that it should use, and its price; other models are counted at the highest price. */
    model: z.string().min(1).max(256).optional(),
    price: Price.optional(),
  }).strict().optional(),
  /** Maximum tokens that one run may use at its provider. */
  tokens: z.int().min(1).max(1_000_000_000),
}).strict();
export type ForeignAgent = z.infer<typeof ForeignAgent>;

/** Standard input of the client within the walls. */
export interface AgentHandover extends Pick<ForeignAgent, "words" | "env" | "files"> {
  /** Absolute: the copy of the folder. */
  readonly cwd: string;
  readonly request: string;
  /** Socket of the relay; absent without a provider and tools. */
  readonly socket?: string;
  /** Path at which the relay serves tools; absent without tools. */
  readonly tools?: string;
}

/** First line of a relay's standard input; the only way that the key is passed on. */
export interface RelaySetup {
  /** Absent if the agent uses no provider. */
  readonly provider?: {
    readonly wire: ProviderWire;
    readonly origin: string;
    readonly header: string;
    /** With its prefix. */
    readonly value: string;
  };
  readonly tokens: number;
  /** Path at which tools are served; absent without tools. */
  readonly tools?: string;
}

const id = z.int().min(1).max(1e9);
const tokens = z.int().min(0).max(1e9);

/** An agent's request to its provider, as reported to the kernel. */
export const RelayInference = z.object({
  /** The agent's name for the model. */
  model: z.string().max(256),
  /** Tokens, estimated from what is sent. */
  input: tokens,
  /** Maximum tokens of the answer. */
  maxTokens: tokens,
  bytes: z.int().min(0).max(1e9),
  /** The answer is not a stream, so the provider computes all of it even if the agent disconnects. */
  whole: z.boolean().optional(),
}).strict();
export type RelayInference = z.infer<typeof RelayInference>;

/** Tokens used by an inference. `input` includes cached tokens. */
export const RelayUsage = z.object({
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
}).strict();
export type RelayUsage = z.infer<typeof RelayUsage>;

/** A relay's message, one JSON text a line. Messages with an `id`, except `ended`, get a {@link RelayAnswer}. */
export const RelaySaid = z.union([
  z.object({ ready: z.literal(true) }).strict(),
  z.object({ refused: z.string().max(512) }).strict(),
  z.object({ failed: z.string().max(512) }).strict(),
  z.object({ id, infer: RelayInference }).strict(),
  /** The end of an allowed inference; without `used` no answer came. */
  z.object({ id, ended: z.literal(true), used: RelayUsage.optional() }).strict(),
  z.object({ id, list: z.literal(true) }).strict(),
  z.object({ id, call: z.string().max(128), args: z.string().max(1_000_000) }).strict(),
]);
export type RelaySaid = z.infer<typeof RelaySaid>;

/** A tool served to a foreign agent. */
export interface ServedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its argument object, as text. */
  readonly schema: string;
}

/** The kernel's answer to a relay, one JSON text a line. */
export type RelayAnswer =
  & { readonly id: number }
  & (
    | { readonly refused: string }
    /** The request is allowed, with at most this many tokens. */
    | { readonly maxTokens: number }
    | { readonly tools: readonly ServedTool[] }
    /** The result of a call. */
    | { readonly content: string; readonly isError: boolean }
  );

/** Milliseconds of one request to a foreign agent. */
export const AGENT_MS = 600_000;
