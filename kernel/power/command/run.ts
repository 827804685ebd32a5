/** One run of a program of this machine: the request, the result, and the capture of its output. @module */
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
import type { Pid, TaskId } from "../../../contracts/authority/ids.ts";
import type { TaskPrograms } from "../../core/process/limits.ts";
import type { Scope } from "../../../contracts/authority/lease.ts";
import { joinBytes } from "../../../port/join_bytes.ts";
import type { CommandParts } from "../../core/start/command_line.ts";
import type { RunPowers } from "./command_spawn_powers.ts";

/** One run that the gate has allowed. */
export interface CommandRun {
  readonly task: TaskId;
  readonly pid: Pid;
  /** Unique among the running calls of all tasks. */
  readonly id: string;
  readonly command: GrantedCommand;
  /** The program's digest at the gate's decision. */
  readonly sha256: string;
  readonly args: readonly string[];
  /** `MOUNT` or `MOUNT/…`. */
  readonly cwd: string;
  /** Mounts whose copies the program sees. */
  readonly mounts: readonly string[];
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Bytes of each output, at most. */
  readonly bytes: number;
  /** Lines of each output, at most. */
  readonly lines: number;
  /** Each must be covered by a live lease of the process. */
  readonly scopes: readonly Scope[];
  /** Colour of the calling process. */
  readonly colour: Colour;
  readonly label: Label;
}

/** The result of a run. */
export interface CommandRan extends Omit<Collected, "writtenBytes" | "untouched"> {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly cut: boolean;
  /** Milliseconds that the program ran. */
  readonly ms: number;
  /** Files that the program was not shown. */
  readonly withheld: number;
  /** Colour of everything that the program could read, mixed with the caller's. */
  readonly colour: Colour;
  readonly label: Label;
  readonly writtenBytes: number;
}

/** Programs of this machine. */
export interface Commands extends TaskPrograms {
  /**
   * Runs a program. Rejects with `unavailable` (no walls here), `refused` (another program, no
   * lease), `notFound` (no such folder), `tooLarge` (a mount, or the written files), `timedOut`,
   * `cancelled`, `leaseRevoked`, `leaseExpired`, `upstream`; nothing is staged then.
   */
  run(run: CommandRun, signal: AbortSignal): Promise<CommandRan>;
}

/** A foreign agent's inference that may be sent. */
export interface LetThrough {
  /** Tokens of the answer, at most. */
  readonly maxTokens: number;
  /**
   * Books the usage; undefined where the provider refused. `lost`: the answer is unknown, so the
   * input counts, and for an answer without a stream all of `maxTokens`. Call it once.
   */
  ended(used: RelayUsage | "lost" | undefined): void;
  /** Resolves once the usage is logged. */
  readonly booked: Promise<void>;
}

/** The port of a foreign agent's run to its task: inferences that the task pays for, and offered tools. */
export interface AgentPort {
  readonly tools: readonly ServedTool[];
  /** Calls a tool through the gate. Rejects with `needsApproval` where an absent person must be asked: the run is over then. */
  call(
    call: { readonly id: string; readonly tool: string; readonly args: string },
    signal: AbortSignal,
  ): Promise<{ readonly content: string; readonly isError: boolean }>;
  /** Judges, paces and holds an inference like every other. Rejects with the reason; `needsApproval` like `call`. */
  infer(asked: RelayInference, signal: AbortSignal): Promise<LetThrough>;
  /** Called after the run, when all is booked: an exhausted limit now applies to its process. */
  close(): void;
  /** Colour and label of the process now. */
  taint(): { readonly colour: Colour; readonly label: Label };
}

/** A prepared run of a foreign agent: see kernel/power/agent. */
export interface AgentRun {
  readonly line: Pick<CommandParts, "agent" | "args">;
  readonly stdin: string;
  /** The relay's observations, in lines; empty without a relay. */
  told(): string;
  /** Ends the relay; resolves once it is removed. */
  close(): Promise<void>;
  /** Colour and label of the process now. */
  taint(): { readonly colour: Colour; readonly label: Label };
}

/** Colour and label of everything that a run is shown. */
export interface Shown {
  readonly colour: Colour;
  readonly label: Label;
}

/** Runs of foreign agents. */
export interface AgentRuns {
  /** Prepares a run. Throws Fault `refused` (no key, a folder that cannot be shown at its path), `unavailable`. */
  begin(
    agent: ForeignAgent,
    run: Pick<CommandRun, "task" | "pid" | "id" | "cwd" | "stdin" | "mounts"> & {
      /** Colour and label of everything shown, at the moment of the call. */
      shown(): Shown;
      readonly folders: readonly Pick<Mount, "name" | "dir">[];
      /** Ends the run because a person must decide first. */
      end(fault: Fault): void;
      /** Stops the run's deadlines until the returned function is called. */
      pause(): () => void;
    },
  ): Promise<AgentRun>;
}

/** The part of a run that messages name. */
type Named = Pick<CommandRun, "command">;

/** The fault of a cancelled call or an ended task. */
export function cancelled({ command }: Named): Fault {
  return new Fault("cancelled", `Cannot finish ${command.name}: cancelled`);
}

/** The fault where no walls exist on this machine. */
export function unavailable({ command }: Named, why: string): Fault {
  return new Fault("unavailable", `Cannot run ${command.name} on this machine: ${why}`);
}

/** What `stat` reports: the file's identity, its state too, or a folder's identity. */
type Aspect = "identity" | "state" | "folder";

/** Runs `stat`: a line for each path; undefined where a path is missing or `stat` cannot run. */
export type Look = (aspect: Aspect, paths: readonly string[]) => Promise<string | undefined>;

const FORMATS: Readonly<Record<Aspect, string>> = {
  identity: "%d:%i",
  state: "%d:%i:%s:%f:%z",
  // With kind and birth time, because a new folder often gets the inode number of a deleted one.
  folder: "%F:%d:%i:%w",
};

/** Makes the function from the machine's `stat`, started through `prlimit`. */
export function makeLook(programs: RunPowers, prlimit: string | undefined): Look {
  return async (aspect, paths) => {
    if (prlimit === undefined) return undefined;
    const output: Uint8Array[] = [];
    const { ended } = programs.run({
      program: prlimit,
      args: ["--core=0", "--", "stat", "-c", FORMATS[aspect], "--", ...paths],
      env: {},
      stdin: new Uint8Array(),
      onOutput: (chunk) => output.push(chunk.slice()),
      onErrors: () => undefined,
    });
    if ((await ended).code !== 0) return undefined;
    const decoder = new TextDecoder();
    return output.map((piece) => decoder.decode(piece, { stream: true })).join("");
  };
}

/** Bytes of output after which a program is killed. */
export const FLOOD_BYTES = 64 * 1024 * 1024;

/** Keeps the beginning and the end of one stream, because errors usually stand in the last lines. */
interface Capture {
  hear(chunk: Uint8Array): void;
  /** The text in whole characters, with a line between the halves that tells how much is left out. */
  text(): string;
  /** Whether something was left out. */
  cut(): boolean;
}

const NEWLINE = 10;

/** Makes a capture of limited bytes and lines; `onFlood` is called once, after {@link FLOOD_BYTES}. */
export function makeCapture(
  limits: { readonly bytes: number; readonly lines: number; onFlood(): void },
): Capture {
  // Head and tail each hold the whole limit, because only the end shows whether the middle is left out.
  const head: Uint8Array[] = [];
  let tail: Uint8Array[] = [];
  let headBytes = 0, tailBytes = 0, total = 0, lines = 0, last = NEWLINE;

  /** Whether the stream exceeds the limits. */
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
      // Trimmed rarely, because a program may print one byte at a time.
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

/** The beginning to show: half of the limits, in whole lines where possible. */
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

/** The end to show, likewise. */
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

/** The offset of the last character start at or before `end`. */
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
