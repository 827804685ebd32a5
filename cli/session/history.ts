/** Keeps what was typed in sessions of this state, for the arrow up: a file that only its person can read. @module */
import { join } from "node:path";
import * as z from "zod";
import type { Command } from "../command.ts";

/** Most lines kept. */
const MAX_LINES = 500;
/** Most characters of one line; longer pastes are not kept. */
const MAX_CHARACTERS = 8_192;
const MAX_BYTES = 8_388_608;

const Lines = z.array(z.string().max(MAX_CHARACTERS)).max(MAX_LINES);

/** The lines typed in this and earlier sessions. */
export interface History {
  /** The oldest first. */
  readonly past: readonly string[];
  add(text: string): void;
}

/** Opens the history of this state. An unreadable file counts as empty: it is only a convenience. */
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
      if (text.trim() === "" || text.length > MAX_CHARACTERS || text === past.at(-1)) return;
      // Read again: another terminal may have added lines meanwhile.
      past = [...read().filter((each) => each !== text), text].slice(-MAX_LINES);
      // Mode 0600 by default.
      powers.disk.makeFolder(places.person);
      powers.disk.write(path, `${JSON.stringify(past)}\n`);
    },
  });
}
