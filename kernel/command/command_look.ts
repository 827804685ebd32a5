/** Which files stand at paths that the kernel itself may not look at: `stat` is asked. @module */
import type { RunPowers } from "./command_spawn_powers.ts";

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
