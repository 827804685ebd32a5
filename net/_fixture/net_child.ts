/** The net service as a real process with the permission that it has, and no other. @module */
import { Fault } from "../../contracts/fault.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire_plugin.ts";
import { makePort, type Port } from "../../port/mod.ts";

/** What `deno run` is told for the net service: nothing but the net. */
export const NET_FLAGS: readonly string[] = [
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--no-remote",
  "--no-npm",
  "--cached-only",
  "--ignore-env",
  "--allow-net",
  "--deny-read",
  "--deny-write",
  "--deny-run",
  "--deny-sys",
  "--deny-ffi",
  "--deny-import",
];

/** A net service that runs, and our end of its port. */
export interface NetChild extends AsyncDisposable {
  readonly port: Port;
  /** Ends its input, as a kernel that is gone does; resolves with its exit code. */
  hangUp(): Promise<number>;
}

/** Starts a bundled net service. */
export function startNet(file: string): NetChild {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...NET_FLAGS, file],
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = child.stdin.getWriter();
  const port = makePort({
    limits: { frameBytes: WIDE_FRAME_BYTES },
    handler: {
      ask: () => {
        throw new Fault("refused", "Cannot serve the net service: it may ask for nothing");
      },
      tell: () => undefined,
    },
    write: (bytes) => {
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
