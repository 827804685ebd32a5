/** A program: words in, text out, an exit code. @module */
import type { Entry, Remit } from "./_remit.ts";
import { FileError } from "./faults.ts";
import type { Input } from "./input.ts";
import type { Output } from "./output.ts";

/** The parts of one program run. */
export interface Run {
  /** Arguments, without the program's name. */
  readonly words: readonly string[];
  readonly input: Input;
  readonly output: Output;
  readonly remit: Pick<Remit, "clock"> & { readonly fs: Pick<Remit["fs"], "write"> };
}

/** A program. Throws UsageError for invalid words, and OutputFull when its output is full. */
export interface Program {
  /** One line after its name. */
  readonly usage: string;
  run(run: Run): Promise<number>;
}

/** The operands, or stdin where there are none. */
export function orStdin(operands: readonly string[]): readonly string[] {
  return operands.length === 0 ? ["-"] : operands;
}

/** Runs `work` for each of `names`; reports a {@link FileError} and sets the exit code to 1. */
export async function forEach<T>(
  { name, output }: { readonly name: string; readonly output: Output },
  names: readonly T[],
  work: (name: T, index: number) => Promise<void>,
): Promise<number> {
  let exit = 0;
  for (const [index, each] of names.entries()) {
    try {
      await work(each, index);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      output.error(`${name}: ${error.message}`);
      exit = 1;
    }
  }
  return exit;
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Entries in the order of their paths. */
export function sorted(entries: readonly Entry[]): readonly Entry[] {
  return [...entries].sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
}
