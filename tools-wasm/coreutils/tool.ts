/** `command`: small programs over the task's files, inside the sandbox. @module */
import type { Remit } from "./_remit.ts";
import { cat, cut, replace, tail, uniq, wc } from "./text_programs.ts";
import { date } from "./date.ts";
import { FileError, OutputFull, UsageError } from "./faults.ts";
import { find } from "./find.ts";
import { grep } from "./grep.ts";
import { head } from "./head.ts";
import { makeInput } from "./input.ts";
import { ls } from "./ls.ts";
import { makeOutput } from "./output.ts";
import { placeOf } from "./place.ts";
import type { Program } from "./program.ts";
import { sha256sum } from "./sha256sum.ts";
import { sort } from "./sort.ts";

/** Every program by its name. */
export const PROGRAMS: ReadonlyMap<string, Program> = new Map(Object.entries({
  ...{ cat, cut, date, find, grep, head, ls, replace, sha256sum, sort, tail, uniq, wc },
}));

/** Default limits of an output: bytes and lines. */
const LIMITS = { bytes: 32_768, lines: 2_000 };
/** Exit codes: invalid words; no such program; full output, as after SIGPIPE. */
const USAGE = 2, NO_PROGRAM = 127, FULL = 141;

/** A call's arguments, already checked against their schema. */
export interface CommandArgs {
  readonly program: string;
  readonly args?: readonly string[];
  /** `MOUNT` or `MOUNT/…`; absent: the top, which contains the mounts. */
  readonly cwd?: string;
  readonly stdin?: string;
  /** Maximum bytes and lines of each output. */
  readonly bytes?: number;
  readonly lines?: number;
}

/** The result of a call. */
export interface CommandValue {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether output was cut at a limit. */
  readonly cut: boolean;
}

/** Runs a program over the task's files. Rejects only when the call itself cannot continue. */
export async function runCommand(args: CommandArgs, remit: Remit): Promise<CommandValue> {
  const { program: name, args: words = [], stdin = "" } = args;
  const output = makeOutput({
    bytes: args.bytes ?? LIMITS.bytes,
    lines: args.lines ?? LIMITS.lines,
  });
  const exit = await (async (): Promise<number> => {
    const program = PROGRAMS.get(name);
    try {
      const cwd = args.cwd === undefined ? "" : placeOf(args.cwd, "");
      if (program === undefined) {
        output.error(
          `no program ${JSON.stringify(name)}; there are ${[...PROGRAMS.keys()].join(", ")}`,
        );
        return NO_PROGRAM;
      }
      const input = makeInput(remit.fs, { cwd, stdin });
      return await program.run({ words, input, output, remit });
    } catch (error) {
      if (error instanceof OutputFull) return FULL;
      if (error instanceof UsageError) {
        output.error(`${name}: ${error.message}\nusage: ${name} ${program?.usage ?? ""}`);
        return USAGE;
      }
      if (!(error instanceof FileError)) throw error;
      output.error(`${name}: ${error.message}`);
      return 1;
    }
  })();
  return { exit, ...output.taken() };
}

/** The tools of this plugin. */
export const tools = { command: runCommand };
