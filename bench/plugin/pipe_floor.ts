/**
 * What two Deno processes need at least to exchange a call of a plugin: the same bytes over the same
 * pipes, parsed and written as JSON once on each side, and nothing else. Run as a program it is the
 * other side.
 * @module
 */
import { makeSpawnPowers } from "../../kernel/core/start/spawn_powers.ts";

const CHUNK_BYTES = 65_536;
const decoder = new TextDecoder(), encoder = new TextEncoder();

/** The other side, started. */
export interface PipeFloor extends AsyncDisposable {
  /** Sends a value of less than 16 KB and resolves when it has come back. */
  trip(value: unknown): Promise<void>;
}

/** Starts the other side as the kernel starts its children: it gives way to others. */
export function startPipeFloor(): PipeFloor {
  let hear = (_chunk: Uint8Array): void => {};
  const child = makeSpawnPowers().start({
    program: "/usr/bin/env",
    args: [
      ...["nice", "-n", "10", Deno.execPath(), "run", "--quiet", "--no-config"],
      import.meta.filename ?? "",
    ],
    env: { PATH: "/usr/bin:/bin", NO_COLOR: "1" },
    onOutput: (chunk) => hear(chunk),
    onStderr: (chunk) => void Deno.stderr.writeSync(chunk),
  });
  return {
    trip(value): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      let text = "";
      hear = (chunk) => {
        text += decoder.decode(chunk);
        if (!text.endsWith("\n")) return;
        JSON.parse(text);
        resolve();
      };
      child.write(encoder.encode(`${JSON.stringify(value)}\n`));
      return promise;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill();
      await child.exited;
    },
  };
}

if (import.meta.main) {
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let text = "";; text = "") {
    while (!text.endsWith("\n")) {
      const length = Deno.stdin.readSync(chunk);
      if (length === null) Deno.exit(0);
      text += decoder.decode(chunk.subarray(0, length));
    }
    Deno.stdout.writeSync(encoder.encode(`${JSON.stringify(JSON.parse(text))}\n`));
  }
}
