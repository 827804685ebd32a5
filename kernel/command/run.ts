/** One run of a program of this machine: what is asked for, what it came to. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Colour, Label } from "../../contracts/colour.ts";
import type { Collected, GrantedCommand } from "../../contracts/command.ts";
import type { Leases } from "../../contracts/gate.ts";
import type { Pid, TaskId } from "../../contracts/ids.ts";
import type { Lease, Scope } from "../../contracts/lease.ts";
import type { RunPowers } from "./command_spawn_powers.ts";

/** One run that the gate has let through. */
export interface CommandRun {
  readonly task: TaskId;
  readonly pid: Pid;
  /** Unique among the calls under way of all tasks. */
  readonly id: string;
  readonly command: GrantedCommand;
  /** The program's digest as it was decided on. */
  readonly sha256: string;
  readonly args: readonly string[];
  /** `MOUNT` or `MOUNT/…`. */
  readonly cwd: string;
  /** Mounts that it is shown. */
  readonly mounts: readonly string[];
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Most bytes and lines of each output. */
  readonly bytes: number;
  readonly lines: number;
  /** Each must be covered by a live lease of the process. */
  readonly scopes: readonly Scope[];
  /** Of the calling process. */
  readonly colour: Colour;
  readonly label: Label;
}

/** What it came to. */
export interface CommandRan extends Omit<Collected, "writtenBytes" | "untouched"> {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly cut: boolean;
  /** Milliseconds that the program ran. */
  readonly ms: number;
  /** Files that it was not shown. */
  readonly withheld: number;
  /** Of all that it could read, and of the caller. */
  readonly colour: Colour;
  readonly label: Label;
  readonly writtenBytes: number;
}

/** Programs of this machine. */
export interface Commands {
  /**
   * Rejects with `unavailable` (no walls here), `refused` (another program, no lease), `notFound`
   * (no such folder), `tooLarge` (a mount, or what was written), `timedOut`, `cancelled`,
   * `leaseRevoked`, `leaseExpired`, `upstream`. Nothing is staged then.
   */
  run(run: CommandRun, signal: AbortSignal): Promise<CommandRan>;
  /** SIGSTOP and SIGCONT: the deadlines of a process's runs stand still. */
  freeze(pid: Pid): void;
  thaw(pid: Pid): void;
  /** Operating-system processes of a task, for `ps`. */
  osPids(task: TaskId): readonly number[];
  /** Ends a task's runs; resolves when they have ended. */
  close(task: TaskId): Promise<void>;
}

/** What a refusal names of a run. */
type Named = Pick<CommandRun, "command">;
/** What leases are looked up for. */
type Leased = Pick<CommandRun, "command" | "pid" | "scopes">;

/** The call was cancelled, or its task ended. */
export function cancelled({ command }: Named): Fault {
  return new Fault("cancelled", `Cannot finish ${command.name}: cancelled`);
}

/** Nothing walls a program in on this machine. */
export function unavailable({ command }: Named, why: string): Fault {
  return new Fault("unavailable", `Cannot run ${command.name} on this machine: ${why}`);
}

/** The leases that cover a run. Throws the fault of the first scope without one. */
export function held(leases: Pick<Leases, "covering" | "dead">, run: Leased): readonly Lease[] {
  return run.scopes.map((scope) => {
    const lease = leases.covering(run.pid, scope);
    if (lease !== undefined) return lease;
    const dead = leases.dead(run.pid, scope);
    const what = `Cannot run ${run.command.name} on ${JSON.stringify(scope.path)}`;
    if (dead === "revoked") throw new Fault("leaseRevoked", `${what}: its lease was taken back`);
    if (dead === "expired") throw new Fault("leaseExpired", `${what}: its lease has expired`);
    throw new Fault("refused", `${what}: no lease of this process covers it`);
  });
}

/** What is told of each: which file it is, its last change as well, or which folder it is. */
type Aspect = "identity" | "state" | "folder";

/** A line for each path; undefined where one is missing, or nothing here can tell. */
export type Look = (aspect: Aspect, paths: readonly string[]) => Promise<string | undefined>;

const FORMATS: Readonly<Record<Aspect, string>> = {
  identity: "%d:%i",
  state: "%d:%i:%s:%f:%z",
  // With its kind, and its birth: a folder that is made anew often gets the number of the old one.
  folder: "%F:%d:%i:%w",
};

/** Makes it, of the machine's `stat`, behind `prlimit`. */
export function makeLook(programs: RunPowers, prlimit: string | undefined): Look {
  return async (aspect, paths) => {
    if (prlimit === undefined) return undefined;
    const said: Uint8Array[] = [];
    const { ended } = programs.run({
      program: prlimit,
      args: ["--core=0", "--", "stat", "-c", FORMATS[aspect], "--", ...paths],
      env: {},
      stdin: new Uint8Array(),
      onOutput: (chunk) => said.push(chunk.slice()),
      onErrors: () => undefined,
    });
    if ((await ended).code !== 0) return undefined;
    const decoder = new TextDecoder();
    return said.map((piece) => decoder.decode(piece, { stream: true })).join("");
  };
}
