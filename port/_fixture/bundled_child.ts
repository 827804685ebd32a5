/** A bundled program as a child without any permission, for tests of what runs in one. @module */
import assert from "node:assert/strict";
import type { PortHandler } from "../../contracts/port.ts";
import { makePort, type Port } from "../mod.ts";

/** As the kernel starts children. Not node:child_process: Deno's puts `-A` behind `run`. */
const FLAGS = [
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--no-remote",
  "--no-npm",
  "--cached-only",
];

/** A bundled child program in a folder that goes when it is disposed of. */
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

/** A child process without any permission, and our end of its port. */
export interface StartedChild extends AsyncDisposable {
  readonly port: Port;
  /** Ends its input, as a kernel that is gone does; resolves with its exit code. */
  hangUp(): Promise<number>;
}

/** Starts a bundled child. */
export function startChild(file: string, handler: PortHandler): StartedChild {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...FLAGS, file],
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = child.stdin.getWriter();
  const port = makePort({
    handler,
    write: (bytes) => {
      // A child that has ended takes nothing: its exit says so.
      input.write(bytes.slice()).catch(() => port.close("the child takes no input"));
    },
  });
  const pumped = (async () => {
    for await (const bytes of child.stdout) port.feed(bytes);
    port.close("the child ended");
  })();
  const ended = async (): Promise<number> => {
    await pumped;
    return (await child.status).code;
  };
  return {
    port,
    async hangUp(): Promise<number> {
      await input.close();
      return await ended();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await input.close().catch(() => undefined);
      await ended();
    },
  };
}
