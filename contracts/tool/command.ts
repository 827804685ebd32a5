/** Commands: programs of this machine that a task may run, walled in. @module */
import * as z from "zod";
import { Colour, Label } from "../authority/colour.ts";
import { Digest } from "../authority/ids.ts";
import type { SetupBody } from "../wire/wire_toolhost.ts";
import type { ForeignAgent } from "./foreign_agent.ts";
import { StagedChange } from "./workspace.ts";

/** The name under which a program is granted. */
export const CommandName = z.string().regex(/^[a-z][a-z0-9_.+-]{0,31}$/);
export type CommandName = z.infer<typeof CommandName>;

/** A variable that a call may set. What loads code into every program is nobody's to set. */
const EnvName = z.string().regex(/^(?!LD_)[A-Za-z_][A-Za-z0-9_]{0,63}$/);

/** One class of commands, as remit.yaml's `commands:` grants it. */
export const CommandClass = z.object({
  /** Absolute path, or a name that is looked for at the start. */
  program: z.string().regex(/^(\/[^\0,\n]{1,1023}|[A-Za-z0-9][A-Za-z0-9_.+-]{0,63})$/),
  /** The first argument must be one of these; any when absent. */
  args: z.array(z.string().min(1).max(256)).min(1).max(64).optional(),
  /** Variables that a call may set; none when absent. */
  env: z.array(EnvName).max(32).optional(),
  /** Most milliseconds of a run; 60,000 when absent. */
  timeoutMs: z.int().min(100).max(600_000).optional(),
  /** Whether it may go on after a call, as a process session; `pty` says so, too. */
  session: z.boolean().optional(),
  /** Whether a session of it may have a terminal. */
  pty: z.boolean().optional(),
  /** Most milliseconds of a session; when absent, what `timeoutMs` says, else an hour. */
  sessionMs: z.int().min(1_000).max(86_400_000).optional(),
  /** What it sees: the mount it runs in (the default), or every mount of the caller. */
  mounts: z.enum(["cwd", "all"]).optional(),
  /** There is no other way to write, and no network for commands, in this version. */
  writes: z.literal("staged").optional(),
  network: z.literal(false).optional(),
}).strict();
export type CommandClass = z.infer<typeof CommandClass>;

/** A class whose program was found: what the kernel is told at its start. */
export interface GrantedCommand {
  readonly name: CommandName;
  /** Absolute, without links. */
  readonly program: string;
  /** Of the program's bytes when the kernel was started. */
  readonly sha256: Digest;
  readonly args?: readonly string[];
  readonly env: readonly string[];
  readonly timeoutMs: number;
  readonly mounts: "cwd" | "all";
  /** Set when it may go on after a call: for how long at most, and whether with a terminal. */
  readonly session?: { readonly ms: number; readonly pty: boolean };
  /** Set where the program is the client of an agent of others. */
  readonly agent?: ForeignAgent;
}

/** Milliseconds of a run where its class says nothing. */
export const COMMAND_MS = 60_000;
/** Kernel → copy service, `pin`: keeps the bytes of a program that is run. Answered with null. */
export interface PinBody {
  /** Where the service finds the program. */
  readonly file: string;
  /** What it must hold. */
  readonly sha256: string;
  /** Its copy, which is what is run, is made here unless it is there. */
  readonly pin: string;
  /** Unique among the services under way: what a copy is called before it is whole. */
  readonly draft: string;
}

/**
 * Kernel → copy service, `prepare`: before each run, after the `collect` of the one before, and ahead
 * of one. Answered with {@link Prepared}.
 */
export interface PrepareBody {
  readonly setup: SetupBody;
  /** Names of the mounts to copy: the same each time. */
  readonly mounts: readonly string[];
  /** `MOUNT` or `MOUNT/…`: what of these mounts is copied. Absent: all of each. */
  readonly only?: readonly string[];
  /** In it lie the copies of one generation, each mount's under its name: `WORK/GENERATION/MOUNT`. */
  readonly work: string;
  /** What copies are called that are made anew: more than in any `prepare` before. */
  readonly generation: number;
  /** Where the program starts: `MOUNT` or `MOUNT/…`, a folder and no link. */
  readonly cwd: string;
  /** Nothing runs in these: they are for what changed since to be copied quickly. No `collect` follows. */
  readonly ahead: boolean;
}

/** Answer to `prepare`. */
export const Prepared = z.object({
  /** Where the copies lie: as it was told, or those of the run before, which it left as they were. */
  generation: z.int().min(1),
  files: z.int().min(0),
  bytes: z.int().min(0),
  /** Files of the never-list and their second names: not copied. */
  withheld: z.int().min(0),
  /** Of all that was copied, names included, by its paths. */
  colour: Colour,
  label: Label,
  /** SHA-256 of what was copied: the kernel mixes in what is known of it. */
  contents: z.array(Digest).max(20_000),
}).strict();
export type Prepared = z.infer<typeof Prepared>;

/** Kernel → copy service, `weigh`: answered with what the copies take now. */
export const Weight = z.object({ files: z.int().min(0), bytes: z.int().min(0) }).strict();
export type Weight = z.infer<typeof Weight>;

/** Kernel → copy service, `collect`: after the program and all it started have ended. */
export interface CollectBody {
  /** Of the calling process: what was written keeps them. */
  readonly colour: Colour;
  readonly label: Label;
}

/** Answer to `collect`. */
export const Collected = z.object({
  staged: z.array(StagedChange).max(10_000),
  /** Paths whose staged change the program took back. */
  unstaged: z.array(z.string().max(4_096)).max(10_000),
  /** What it did that is not kept, in words; untrusted names in them. */
  left: z.array(z.string().max(1_000)).max(100),
  writtenBytes: z.int().min(0),
  /** Whether the copies surely are as they were; else the next run's are to be made ahead. */
  untouched: z.boolean(),
}).strict();
export type Collected = z.infer<typeof Collected>;

/** How a descriptor of `command` names programs of this machine that the operator granted. */
export const GRANTED_PROGRAMS = "Programs of this machine";
