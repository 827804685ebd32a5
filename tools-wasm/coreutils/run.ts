/** One call: which program, with what, and what became of it. @module */
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

/** Output of a call that names no limits: bytes and lines. */
const LIMITS = { bytes: 32_768, lines: 2_000 };
/** Exit codes: wrong words; no such program; the output was full, as after SIGPIPE. */
const USAGE = 2, NO_PROGRAM = 127, FULL = 141;

/** A call's arguments, already held against their schema. */
export interface CommandArgs {
  readonly program: string;
  readonly args?: readonly string[];
  /** `MOUNT` or `MOUNT/…`; the top, where the mounts lie, when absent. */
  readonly cwd?: string;
  readonly stdin?: string;
  /** Most bytes and lines of each output. */
  readonly bytes?: number;
  readonly lines?: number;
}

/** What became of it. */
export interface CommandValue {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  /** True when output was cut at a limit. */
  readonly cut: boolean;
}

/** Runs a program over the task's files. Rejects only when the call itself cannot go on. */
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
