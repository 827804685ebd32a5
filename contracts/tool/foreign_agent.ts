/** Agents of others: programs that speak the Agent Client Protocol, which run within walls over a copy of a folder. @module */
import * as z from "zod";
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
  /** The socket that leads to the relay; absent where there is no provider. */
  readonly socket?: string;
}

/** What a relay reads on its standard input: the only place where the key is passed on. */
export interface RelaySetup {
  readonly wire: ProviderWire;
  readonly origin: string;
  readonly header: string;
  /** With its prefix. */
  readonly value: string;
  readonly tokens: number;
}

/** Milliseconds of one request to a foreign agent. */
export const AGENT_MS = 600_000;
