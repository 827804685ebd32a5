/** The caller's folder, environment, clock and ids. @module */
import type { Around } from "../hands.ts";

const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz";

function randomLetters(count: number): string {
  let text = "";
  while (text.length < count) {
    for (const byte of crypto.getRandomValues(new Uint8Array(count * 2))) {
      // 252 is the largest multiple of 36 in a byte: no letter is likelier than another.
      if (byte < 252 && text.length < count) text += LETTERS.charAt(byte % 36);
    }
  }
  return text;
}

/** Reads the surroundings. `deno task` changes the folder: the caller's is in INIT_CWD. */
export function readAround(home: string): Around {
  const underTask = Deno.env.get("REMIT_CWD") ?? Deno.env.get("INIT_CWD");
  const cwd = underTask !== undefined && underTask.startsWith("/") ? underTask : Deno.cwd();
  return Object.freeze({
    cwd,
    env: (name: string) => Deno.env.get(name),
    uid: Deno.uid() ?? 0,
    // The launcher finds Deno or npx by itself: what is shown can be typed wherever this runs.
    command: Deno.env.get("REMIT_COMMAND") ?? (cwd === home ? "bin/remit" : `${home}/bin/remit`),
    linux: Deno.build.os === "linux",
    home,
    now: () => Date.now(),
    id: (prefix: string) => prefix + randomLetters(12),
  });
}
