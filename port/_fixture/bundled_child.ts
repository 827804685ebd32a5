/** A bundled program as a child without any permission, for tests of code that runs in one. @module */
import assert from "node:assert/strict";
import type { PortHandler } from "../../contracts/base/port.ts";
import { overPipes, type PipedChild } from "./piped_child.ts";

/** As the kernel starts children. Not node:child_process: Deno's inserts `-A` after `run`. */
const FLAGS = [
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--no-remote",
  "--no-npm",
  "--cached-only",
];

/** A bundled child program in a folder that is removed when the program is disposed of. */
export async function bundled(entry: URL): Promise<{ readonly file: string } & AsyncDisposable> {
  const folder = await Deno.makeTempDir({ prefix: "remit-child-" });
  const file = `${folder}/child.js`;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--config", config, "--platform", "browser"]
      .concat("--minify", "-o", file, entry.pathname),
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return { file, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

/** Starts a bundled child without any permission. */
export function startChild(file: string, handler: PortHandler): PipedChild {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...FLAGS, file],
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  return overPipes(child, { handler });
}
