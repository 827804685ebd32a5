/** Agents of others: programs that speak the Agent Client Protocol, which run within walls over a copy of a folder. @module */
import * as z from "zod";
import { Price } from "../model/model_config.ts";
import { CommandName } from "./command.ts";

/** The wires of providers that a relay understands. */
export const ProviderWire = z.enum(["anthropic", "openai", "gemini"]);
export type ProviderWire = z.infer<typeof ProviderWire>;

const path = z.string().regex(/^\/[^\0,\n]{1,1023}$/);

/** One agent, as `remit agent add` keeps it and a kernel is told of it. */
export const ForeignAgent = z.object({
  name: CommandName,
  /** Which row of the table it is; absent for a command of the operator's. */
  row: CommandName.optional(),
  /** A folder of its files, shown read-only under its own path; absent: the machine's programs are enough. */
  tree: path.optional(),
  /** What that folder held when it was added: a run over another one is refused. */
  pin: z.object({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    files: z.int().min(0),
    bytes: z.int().min(0),
    /** As its package manager has it: `NAME@VERSION`, and the digest of what was downloaded. */
    package: z.string().max(256).optional(),
    integrity: z.string().max(256).optional(),
  }).strict().optional(),
  /** The program and its arguments, as they are started within the walls. */
  words: z.array(z.string().min(1).max(1_024)).min(1).max(64),
  /** Its environment. `${BASE}` is the relay's address within the walls. */
  env: z.record(z.string().regex(/^(?!LD_)[A-Za-z_][A-Za-z0-9_]{0,63}$/), z.string().max(2_048)),
  /** Files of its home that are written before it starts; `${BASE}` as above. */
  files: z.record(
    z.string().regex(/^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+){0,7}$/),
    z.string().max(16_384),
  ),
  /** Where it may ask a model; absent: nowhere. */
  provider: z.object({
    wire: ProviderWire,
    /** `https://HOST[:PORT]`; plain HTTP only on this machine. */
    origin: z.string().regex(
      /^(https:\/\/[a-z0-9.-]{1,253}(:\d{1,5})?|http:\/\/(127\.0\.0\.1|localhost):\d{1,5})$/,
    ),
    /** A secret that `remit secret` keeps for that origin. */
    secret: z.string().min(1).max(128),
    /** The model that it is to ask for, and what that costs; any other one is counted as the dearest. */
    model: z.string().min(1).max(256).optional(),
    price: Price.optional(),
  }).strict().optional(),
  /** Most tokens that one run may use at its provider. */
  tokens: z.int().min(1).max(1_000_000_000),
}).strict();
export type ForeignAgent = z.infer<typeof ForeignAgent>;

/** What the client within the walls reads on its standard input. */
export interface AgentHandover extends Pick<ForeignAgent, "words" | "env" | "files"> {
  /** Absolute: the copy of the folder. */
  readonly cwd: string;
  readonly request: string;
  /** The socket that leads to the relay; absent where there is neither a provider nor a tool. */
  readonly socket?: string;
  /** The path at which the relay serves tools; absent where there are none. */
  readonly tools?: string;
}

/** What a relay reads first on its standard input, one line: the only place where the key is passed on. */
export interface RelaySetup {
  /** Absent where the agent asks no provider. */
  readonly provider?: {
    readonly wire: ProviderWire;
    readonly origin: string;
    readonly header: string;
    /** With its prefix. */
    readonly value: string;
  };
  readonly tokens: number;
  /** The path at which tools are served; absent where there are none. */
  readonly tools?: string;
}

const id = z.int().min(1).max(1e9);
const tokens = z.int().min(0).max(1e9);

/** What an agent asks of its provider, as the kernel is told of it. */
export const RelayInference = z.object({
  /** As the agent names it. */
  model: z.string().max(256),
  /** Tokens, estimated from what is sent. */
  input: tokens,
  /** Most tokens of the answer. */
  maxTokens: tokens,
  bytes: z.int().min(0).max(1e9),
  /** The answer is no stream: it is computed whole, whether it is heard or not. */
  whole: z.boolean().optional(),
}).strict();
/** See {@link RelayInference}. */
export type RelayInference = z.infer<typeof RelayInference>;

/** What an inference used. `input` holds what the provider's cache had, too. */
export const RelayUsage = z.object({
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
}).strict();
/** See {@link RelayUsage}. */
export type RelayUsage = z.infer<typeof RelayUsage>;

/** What a relay says, one JSON text a line. What has an `id` is answered with a {@link RelayAnswer}, but for ends. */
export const RelaySaid = z.union([
  z.object({ ready: z.literal(true) }).strict(),
  z.object({ refused: z.string().max(512) }).strict(),
  z.object({ failed: z.string().max(512) }).strict(),
  z.object({ id, infer: RelayInference }).strict(),
  /** The end of an inference that was let through; without `used` no answer came. */
  z.object({ id, ended: z.literal(true), used: RelayUsage.optional() }).strict(),
  z.object({ id, list: z.literal(true) }).strict(),
  z.object({ id, call: z.string().max(128), args: z.string().max(1_000_000) }).strict(),
]);
/** See {@link RelaySaid}. */
export type RelaySaid = z.infer<typeof RelaySaid>;

/** A tool that an agent of others is served. */
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
    /** It may ask, for so many tokens at most. */
    | { readonly maxTokens: number }
    | { readonly tools: readonly ServedTool[] }
    /** What a call came to. */
    | { readonly content: string; readonly isError: boolean }
  );

/** Milliseconds of one request to a foreign agent. */
export const AGENT_MS = 600_000;
