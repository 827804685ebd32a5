/** Commands: programs of this machine that a task may run within walls. @module */
import * as z from "zod";
import { Colour, Label } from "../authority/colour.ts";
import { Digest } from "../authority/ids.ts";
import type { SetupBody } from "../wire/wire_toolhost.ts";
import type { ForeignAgent } from "./foreign_agent.ts";
import { StagedChange } from "./workspace.ts";

/** The name under which a program is granted. */
export const CommandName = z.string().regex(/^[a-z][a-z0-9_.+-]{0,31}$/);
export type CommandName = z.infer<typeof CommandName>;

/** A variable that a call may set; `LD_*`, which loads code into programs, is excluded. */
const EnvName = z.string().regex(/^(?!LD_)[A-Za-z_][A-Za-z0-9_]{0,63}$/);

/** One class of commands, from remit.yaml's `commands:`. */
export const CommandClass = z.object({
  /** Absolute path, or a name that is resolved when the kernel starts. */
  program: z.string().regex(/^(\/[^\0,\n]{1,1023}|[A-Za-z0-9][A-Za-z0-9_.+-]{0,63})$/),
  /** The first argument must be one of these; any when absent. */
  args: z.array(z.string().min(1).max(256)).min(1).max(64).optional(),
  /** Variables that a call may set; none when absent. */
  env: z.array(EnvName).max(32).optional(),
  /** Maximum milliseconds of a run; default 60,000. */
  timeoutMs: z.int().min(100).max(600_000).optional(),
  /** Whether the program may outlive a call, as a process session; implied by `pty`. */
  session: z.boolean().optional(),
  /** Whether a session of it may have a terminal. */
  pty: z.boolean().optional(),
  /** Maximum milliseconds of a session; default `timeoutMs`, else an hour. */
  sessionMs: z.int().min(1_000).max(86_400_000).optional(),
  /** Visible mounts: the one it runs in (default), or all of the caller's. */
  mounts: z.enum(["cwd", "all"]).optional(),
  /** The only supported values in this version. */
  writes: z.literal("staged").optional(),
  network: z.literal(false).optional(),
}).strict();
export type CommandClass = z.infer<typeof CommandClass>;

/** A class with its resolved program, handed to the kernel at start. */
export interface GrantedCommand {
  readonly name: CommandName;
  /** Absolute, without links. */
  readonly program: string;
  /** Digest of the program's bytes when the kernel started. */
  readonly sha256: Digest;
  readonly args?: readonly string[];
  readonly env: readonly string[];
  readonly timeoutMs: number;
  readonly mounts: "cwd" | "all";
  /** Set if sessions are allowed: maximum duration, and whether with a terminal. */
  readonly session?: { readonly ms: number; readonly pty: boolean };
  /** Set if the program is the client of a foreign agent. */
  readonly agent?: ForeignAgent;
}

/** Default maximum milliseconds of a run. */
export const COMMAND_MS = 60_000;
/** Kernel → copy service, `pin`: stores a copy of a program to run. Answered with null. */
export interface PinBody {
  /** Path of the program for the service. */
  readonly file: string;
  /** Required digest of its bytes. */
  readonly sha256: string;
  /** Path of the copy to run; created if missing. */
  readonly pin: string;
  /** Temporary name of an incomplete copy, unique among running services. */
  readonly draft: string;
}

/**
 * Kernel → copy service, `prepare`: before each run, after the previous run's `collect`; also ahead
 * of a run. Answered with {@link Prepared}.
 */
export interface PrepareBody {
  readonly setup: SetupBody;
  /** Names of the mounts to copy: the same each time. */
  readonly mounts: readonly string[];
  /** Parts of these mounts to copy, `MOUNT` or `MOUNT/…`; absent: everything. */
  readonly only?: readonly string[];
  /** Folder of the copies: `WORK/GENERATION/MOUNT`. */
  readonly work: string;
  /** Number of new copies; higher than in any earlier `prepare`. */
  readonly generation: number;
  /** Where the program starts: `MOUNT` or `MOUNT/…`, a folder and no link. */
  readonly cwd: string;
  /** Copies in advance, without a run or `collect`, so that the next `prepare` has little to copy. */
  readonly ahead: boolean;
}

/** Answer to `prepare`. */
export const Prepared = z.object({
  /** Generation of the copies: the requested one, or the previous one if the last run changed nothing. */
  generation: z.int().min(1),
  files: z.int().min(0),
  bytes: z.int().min(0),
  /** Number of files on the never-list, and of their other names, which were not copied. */
  withheld: z.int().min(0),
  /** Colour and label of everything copied, names included, by path. */
  colour: Colour,
  label: Label,
  /** SHA-256 of the copied contents, whose known colours the kernel adds. */
  contents: z.array(Digest).max(20_000),
}).strict();
export type Prepared = z.infer<typeof Prepared>;

/** Kernel → copy service, `weigh`: answered with the current size of the copies. */
export const Weight = z.object({ files: z.int().min(0), bytes: z.int().min(0) }).strict();
export type Weight = z.infer<typeof Weight>;

/** Kernel → copy service, `collect`: after the program and its descendants have ended. */
export interface CollectBody {
  /** Colour and label of the calling process, applied to written files. */
  readonly colour: Colour;
  readonly label: Label;
}

/** Answer to `collect`. */
export const Collected = z.object({
  staged: z.array(StagedChange).max(10_000),
  /** Paths whose staged change the program reverted. */
  unstaged: z.array(z.string().max(4_096)).max(10_000),
  /** Sentences about changes that are not kept; they contain untrusted names. */
  left: z.array(z.string().max(1_000)).max(100),
  writtenBytes: z.int().min(0),
  /** Whether the copies are certainly unchanged; otherwise the next run's copies should be prepared ahead. */
  untouched: z.boolean(),
}).strict();
export type Collected = z.infer<typeof Collected>;

/** Heading in the descriptor of `command` for programs that the operator granted. */
export const GRANTED_PROGRAMS = "Programs of this machine";
