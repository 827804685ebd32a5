/** GNU's programs over real files, compared with ours over the same files in memory. @module */
import assert from "node:assert/strict";
import { makeDesk } from "./desk.ts";

/** A program and its words. */
export type Words = readonly string[];

/** Asserts that our programs print what GNU's print, with the same exit codes, and report errors where GNU's do. */
export async function assertSameAsGnu(
  files: Readonly<Record<string, string>>,
  commands: readonly Words[],
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "remit-command-" });
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = `${folder}/${name}`;
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(path, text);
    }
    const desk = makeDesk(
      Object.fromEntries(Object.entries(files).map(([name, text]) => [`desk/${name}`, text])),
    );
    for (const [program = "", ...args] of commands) {
      const real = await new Deno.Command(program, {
        args,
        cwd: folder,
        clearEnv: true,
        env: { LC_ALL: "C.UTF-8", PATH: "/usr/bin:/bin" },
        stdin: "null",
      }).output();
      const ours = await desk.run(program, args, { cwd: "desk" });
      const told = JSON.stringify([program, ...args]);
      assert.equal(ours.stdout, new TextDecoder().decode(real.stdout), told);
      assert.equal(ours.exit, real.code, told + ours.stderr);
      assert.equal(ours.stderr === "", real.stderr.length === 0, told + ours.stderr);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
