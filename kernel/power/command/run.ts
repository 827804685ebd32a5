/** One run of a program of this machine: what is asked for, what it came to. @module */
import type { Colour, Label } from "../../../contracts/authority/colour.ts";
import type { Collected, GrantedCommand } from "../../../contracts/tool/command.ts";
import type {
  ForeignAgent,
  RelayInference,
  RelayUsage,
  ServedTool,
} from "../../../contracts/tool/foreign_agent.ts";
import type { Mount } from "../../../contracts/tool/workspace.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Leases } from "../../../contracts/authority/gate.ts";
import type { Pid, TaskId } from "../../../contracts/authority/ids.ts";
import type { Lease, Scope } from "../../../contracts/authority/lease.ts";
import { joinBytes } from "../../../port/join_bytes.ts";
import type { CommandParts } from "../../core/start/command_line.ts";
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

/** An inference of an agent of others that may leave. */
export interface LetThrough {
  /** Most tokens of its answer. */
  readonly maxTokens: number;
  /**
   * Books what it used: nothing where the provider refused; its input, and the most of an answer that is no stream,
   * where what came is `lost`. To be called once.
   */
  ended(used: RelayUsage | "lost" | undefined): void;
  /** Resolves when that is in the log. */
  readonly booked: Promise<void>;
}

/** A task as one run of an agent of others reaches it: what it pays for, and the tools that it is served. */
export interface AgentPort {
  readonly tools: readonly ServedTool[];
  /** Through the gate. Rejects `needsApproval` where a person must be asked who is not there: the run is then over. */
  call(
    call: { readonly id: string; readonly tool: string; readonly args: string },
    signal: AbortSignal,
  ): Promise<{ readonly content: string; readonly isError: boolean }>;
  /** Judged, paced and held as every inference. Rejects with why not; `needsApproval` as `call`. */
  infer(asked: RelayInference, signal: AbortSignal): Promise<LetThrough>;
  /** The run is over, and all is booked: a limit that it ran into is now its process's. */
  close(): void;
  /** What its process has read meanwhile. */
  taint(): { readonly colour: Colour; readonly label: Label };
}

/** A run of an agent of others that is prepared: see kernel/power/agent. */
export interface AgentRun {
  readonly line: Pick<CommandParts, "agent" | "args">;
  readonly stdin: string;
  /** What the relay saw, in lines; empty without one. */
  told(): string;
  /** Ends the relay; resolves when nothing is left of it. */
  close(): Promise<void>;
  /** What its process has read meanwhile. */
  taint(): { readonly colour: Colour; readonly label: Label };
}

/** Of what a run is shown. */
export interface Shown {
  readonly colour: Colour;
  readonly label: Label;
}

/** Runs of agents of others. */
export interface AgentRuns {
  /** Throws Fault `refused` (no key, a folder that cannot be shown at its path), `unavailable`. */
  begin(
    agent: ForeignAgent,
    run: Pick<CommandRun, "task" | "pid" | "id" | "cwd" | "stdin" | "mounts"> & {
      /** Of all that it is shown, when it asks. */
      shown(): Shown;
      readonly folders: readonly Pick<Mount, "name" | "dir">[];
      /** Ends the run: a person must decide first. */
      end(fault: Fault): void;
      /** Its time stands still until the returned function is called. */
      pause(): () => void;
    },
  ): Promise<AgentRun>;
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

/** Most bytes that a program may print at all; it is ended past them. */
export const FLOOD_BYTES = 64 * 1024 * 1024;

/** Keeps the beginning and the end of one stream: what failed stands in the last lines. */
interface Capture {
  hear(chunk: Uint8Array): void;
  /** The text, of whole characters; a line between the two halves says how much is left out. */
  text(): string;
  /** Whether something was left out. */
  cut(): boolean;
}

const NEWLINE = 10;

/** Makes the capture of at most so many bytes and lines; `onFlood` is called once past {@link FLOOD_BYTES}. */
export function makeCapture(
  limits: { readonly bytes: number; readonly lines: number; onFlood(): void },
): Capture {
  // Both hold all that may be shown: whether the middle is left out is known at the end only.
  const head: Uint8Array[] = [];
  let tail: Uint8Array[] = [];
  let headBytes = 0, tailBytes = 0, total = 0, lines = 0, last = NEWLINE;

  /** Whether the whole is more than is shown. */
  const isCut = (): boolean =>
    total > limits.bytes || lines + (last === NEWLINE ? 0 : 1) > limits.lines;

  return Object.freeze({
    hear(chunk: Uint8Array): void {
      if (chunk.length === 0) return;
      const before = total;
      total += chunk.length;
      if (before <= FLOOD_BYTES && total > FLOOD_BYTES) limits.onFlood();
      lines += newlines(chunk);
      last = chunk.at(-1) ?? last;
      const first = chunk.subarray(0, limits.bytes - headBytes);
      if (first.length > 0) head.push(first.slice());
      headBytes += first.length;
      tail.push(chunk.slice());
      tailBytes += chunk.length;
      // Not at each piece: a program may print one byte at a time.
      if (tailBytes <= 2 * limits.bytes + 65_536) return;
      tail = [joinBytes(tail).slice(-limits.bytes)];
      tailBytes = Math.min(tailBytes, limits.bytes);
    },
    text(): string {
      const whole = joinBytes(head);
      if (!isCut()) return new TextDecoder().decode(whole);
      const begins = beginning(whole, limits), ends = ending(joinBytes(tail), limits);
      const left = total - begins.length - ends.length;
      const leftLines = lines - newlines(begins) - newlines(ends);
      const open = begins.length > 0 && begins.at(-1) !== NEWLINE ? "\n" : "";
      return new TextDecoder().decode(begins) + open +
        `[… ${left} bytes left out here${leftLines > 0 ? `, ${leftLines} lines` : ""} …]\n` +
        new TextDecoder().decode(ends);
    },
    cut: isCut,
  });
}

/** What is shown of the beginning: half of it, whole lines where there are such. */
function beginning(
  bytes: Uint8Array,
  limits: { readonly bytes: number; readonly lines: number },
): Uint8Array {
  let end = Math.min(bytes.length, Math.ceil(limits.bytes / 2));
  let lines = Math.ceil(limits.lines / 2);
  for (let at = bytes.indexOf(NEWLINE); at >= 0 && at < end; at = bytes.indexOf(NEWLINE, at + 1)) {
    lines -= 1;
    if (lines === 0) end = at + 1;
  }
  if (end < bytes.length) end = bytes.lastIndexOf(NEWLINE, end - 1) + 1 || whole(bytes, end);
  return bytes.subarray(0, end);
}

/** What is shown of the end. */
function ending(
  bytes: Uint8Array,
  limits: { readonly bytes: number; readonly lines: number },
): Uint8Array {
  let begin = Math.max(0, bytes.length - Math.floor(limits.bytes / 2));
  let lines = Math.floor(limits.lines / 2);
  if (lines === 0) return bytes.subarray(bytes.length);
  for (let at = bytes.lastIndexOf(NEWLINE, bytes.length - 2); at >= begin;) {
    lines -= 1;
    if (lines === 0) begin = at + 1;
    if (at === 0) break;
    at = bytes.lastIndexOf(NEWLINE, at - 1);
  }
  const next = begin === 0 ? 0 : bytes.indexOf(NEWLINE, begin - 1) + 1;
  if (next > 0 && next < bytes.length) return bytes.subarray(next);
  while (begin < bytes.length && isContinued(bytes[begin])) begin++;
  return bytes.subarray(begin);
}

/** The offset at or before `end` at which a character begins. */
function whole(bytes: Uint8Array, end: number): number {
  let at = end;
  while (at > 0 && isContinued(bytes[at])) at--;
  return at;
}

/** Bytes 10xxxxxx continue a character. */
function isContinued(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80;
}

function newlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
