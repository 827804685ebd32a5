/** A person's wiki, by the real command: made, filled, asked. */
import assert from "node:assert/strict";
import type { Finished, Machine } from "./remit.ts";

/** One wiki of a machine. */
export interface WikiAtHand {
  /** The wiki's folder, real and absolute. */
  readonly folder: string;
  /** `remit wiki WORDS --wiki FOLDER`. */
  ask(...words: readonly string[]): Promise<Finished>;
  /** The same, which must end with exit code 0. */
  must(...words: readonly string[]): Promise<Finished>;
  /** The answer as JSON, whatever the exit code. */
  // deno-lint-ignore no-explicit-any -- each command has another shape, and a test that reads a wrong one fails
  json(...words: readonly string[]): Promise<any>;
}

/** A wiki of `machine` in its folder `name`, which need not exist yet. */
export function wikiAt(machine: Machine, name = "wiki"): WikiAtHand {
  const folder = `${machine.dir}/${name}`;
  const ask = (...words: readonly string[]): Promise<Finished> =>
    machine.remit(["wiki", ...words, "--wiki", folder]);
  return {
    folder,
    ask,
    async must(...words): Promise<Finished> {
      const done = await ask(...words);
      assert.equal(done.code, 0, `wiki ${words.join(" ")}: ${done.stdout}${done.stderr}`);
      return done;
    },
    json: async (...words) => JSON.parse((await ask(...words, "--json")).stdout),
  };
}

export async function makeWiki(machine: Machine, name = "wiki"): Promise<WikiAtHand> {
  const done = await machine.remit(["wiki", "init", `${machine.dir}/${name}`]);
  assert.equal(done.code, 0, done.stderr);
  return wikiAt(machine, name);
}

/** Everything beneath a folder by its path: texts of files, and `-> TARGET` of links. */
export async function treeOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const enter = async (at: string): Promise<void> => {
    for await (const { name, isDirectory, isSymlink, isFile } of Deno.readDir(at)) {
      const path = `${at}/${name}`;
      if (isSymlink) found.set(path, `-> ${await Deno.readLink(path)}`);
      else if (isDirectory) await enter(path);
      else if (isFile) found.set(path, await Deno.readTextFile(path));
    }
  };
  await enter(folder);
  return found;
}

/** Characters that move a terminal's cursor, colour it, or turn the order of letters. */
// deno-lint-ignore no-control-regex -- the pattern looks for them
export const TERMINAL_CONTROL = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
