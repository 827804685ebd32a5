/** Opens the line being typed in the person's own editor: Ctrl-X Ctrl-E, or Ctrl-G. @module */
import { join } from "node:path";
import { displayText } from "../../text/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { LineExtras, Powers } from "../powers.ts";

const MAX_BYTES = 800_000;

/** Edits a text in a temporary file. Returns undefined where the editor failed: the line then stays as it was. */
export function makeEditor(
  { disk, environment, screen, keyboard }: Pick<
    Powers,
    "disk" | "environment" | "screen" | "keyboard"
  >,
): LineExtras["editor"] {
  const program = keyboard?.program;
  if (program === undefined) return undefined;
  return async (text) => {
    const editor = environment.env("VISUAL") ?? environment.env("EDITOR") ?? "vi";
    const folder = disk.temporary("remit-words-");
    const file = join(folder, "words.md");
    try {
      disk.write(file, text);
      // The variable may hold arguments: a shell splits it, as for git and others.
      const code = await program(["/bin/sh", "-c", `${editor} "$1"`, "sh", file]);
      if (code !== 0) {
        screen.say(`  the editor ended with ${code}: your words stay as they were`);
        return undefined;
      }
      const bytes = disk.read(file, { most: MAX_BYTES });
      return bytes === undefined ? undefined : new TextDecoder().decode(bytes).replace(/\n$/, "");
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      screen.say(`  ${displayText(error.message, { max: 500 })}`);
      return undefined;
    } finally {
      disk.remove(folder);
    }
  };
}
