// A set of places in a program: where all its threads stand at one moment. Each is there once, so that a step costs
// at most the program's length, whatever the expression.

import { Do, Program } from "./regex_program";
import { Place } from "./regex_tree";

/** What lies around a place between two bytes. `Later` keeps threads that wait for what comes next. */
export enum Context {
  Later,
  Known,
}

export class Threads {
  readonly list: StaticArray<u16>;
  length: i32 = 0;
  /** Where in the line each thread began. */
  readonly began: StaticArray<i32>;
  private seen: StaticArray<u32>;
  private round: u32 = 0;
  private stack: StaticArray<u16>;
  /** Steps taken since the start, for tests of how much work an expression is. */
  static steps: u64 = 0;

  constructor(private program: Program) {
    this.list = new StaticArray<u16>(program.length);
    this.began = new StaticArray<i32>(program.length);
    this.seen = new StaticArray<u32>(program.length);
    this.stack = new StaticArray<u16>(2 * program.length + 2);
  }

  clear(): void {
    this.length = 0;
    this.round++;
  }

  /**
   * Adds the thread at `from` and all that it goes on to without a byte. With `Later`, threads at a place stay there;
   * with `Known`, they pass or end, by the three facts.
   */
  add(from: i32, began: i32, context: Context, atStart: bool, atEnd: bool, atEdge: bool): void {
    const program = this.program;
    let depth = 0;
    unchecked(this.stack[depth++] = <u16> from);
    while (depth > 0) {
      const at = unchecked(this.stack[--depth]);
      if (unchecked(this.seen[at]) == this.round) continue;
      unchecked(this.seen[at] = this.round);
      Threads.steps++;
      const what = unchecked(program.does[at]);
      if (what == Do.Split) {
        unchecked(this.stack[depth++] = program.other[at]);
        unchecked(this.stack[depth++] = program.next[at]);
        continue;
      }
      if (what == Do.Place) {
        const place = unchecked(program.low[at]);
        if (place == Place.Start) {
          // What comes next does not change where a line starts.
          if (atStart) unchecked(this.stack[depth++] = program.next[at]);
          continue;
        }
        if (context == Context.Known) {
          const passes = place == Place.End ? atEnd : atEdge == (place == Place.WordEdge);
          if (passes) unchecked(this.stack[depth++] = program.next[at]);
          continue;
        }
      }
      unchecked(this.list[this.length] = at);
      unchecked(this.began[this.length++] = began);
    }
  }

  /** Whether a thread stands at the match. */
  get matched(): bool {
    for (let i = 0; i < this.length; i++) {
      if (unchecked(this.program.does[unchecked(this.list[i])]) == Do.Match) return true;
    }
    return false;
  }
}

/** Whether `byte` belongs to a word. */
export function isWord(byte: u8): bool {
  const small = byte | 0x20;
  return byte == 0x5f || (byte >= 0x30 && byte <= 0x39) || (small >= 0x61 && small <= 0x7a);
}
