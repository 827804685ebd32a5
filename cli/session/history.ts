/** What was typed in sessions of this state, for the arrow up in the next one: a file that only its person reads. @module */
import { join } from "node:path";
import * as z from "zod";
import type { Command } from "../command.ts";

/** Lines that are kept. */
const MAX_LINES = 500;
/** Letters of one; a long paste is not worth keeping. */
const MAX_LETTERS = 8_192;
const MAX_BYTES = 8_388_608;

const Lines = z.array(z.string().max(MAX_LETTERS)).max(MAX_LINES);

/** Lines typed in this session and before. */
export interface History {
  /** The oldest first. */
  readonly past: readonly string[];
  add(text: string): void;
}

/** Reads what is kept of this state. What cannot be read is as if nothing was: it is only what an arrow brings back. */
export function openHistory({ powers, places }: Pick<Command, "powers" | "places">): History {
  const path = join(places.person, "typed.json");
  const read = (): string[] => {
    const bytes = powers.disk.read(path, { most: MAX_BYTES });
    if (bytes === undefined) return [];
    try {
      return Lines.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data ?? [];
    } catch (error) {
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  };
  let past = read();
  return Object.freeze<History>({
    get past() {
      return past;
    },
    add(text): void {
      if (text.trim() === "" || text.length > MAX_LETTERS || text === past.at(-1)) return;
      // Read anew: another terminal may have added lines meanwhile.
      past = [...read().filter((each) => each !== text), text].slice(-MAX_LINES);
      // 0600, as everything that the disk hands write.
      powers.disk.makeFolder(places.person);
      powers.disk.write(path, `${JSON.stringify(past)}\n`);
    },
  });
}
