/** Adapts foreign modules in a separate process. @module */
import { join } from "node:path";
import * as z from "zod";
import { Fault } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Adapted } from "./kit.ts";

const ADAPT_MS = 60_000;
const NEWLINE = 10;
const ENV = { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };

const AdaptReport = z.object({
  stubs: z.array(z.string().max(512)).max(1_000),
  memory: z.object({ least: z.int().min(0), most: z.int().min(0).nullable() }).strict(),
}).strict();

/** Adapts a module in a process without permissions. Throws `invalidInput` with its message. */
export async function adaptModule(
  home: string,
  module: Uint8Array,
  pages: number,
): Promise<Adapted> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-prompt", "--cached-only", "--config", join(home, "deno.json")],
      // Limits for a hostile module: MiB of JavaScript, pages of the parser's own memory.
      "--v8-flags=--max-old-space-size=1024,--wasm-max-mem-pages=16384",
      join(home, "tools-wasm/sdk/adapt/main.ts"),
      String(pages),
    ],
    env: ENV,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const late = setTimeout(() => child.kill("SIGKILL"), ADAPT_MS);
  try {
    const done = child.output();
    await feed(child.stdin, module);
    const { success, stdout, stderr } = await done;
    if (!success) {
      const message = displayText(new TextDecoder().decode(stderr), { max: 500 });
      throw new Fault(
        "invalidInput",
        message === "" ? "Cannot adapt the module: it took too long" : message,
      );
    }
    const end = stdout.indexOf(NEWLINE);
    // TRUST: the adapter has read hostile bytes; the load gate judges its output again.
    const report = AdaptReport.parse(JSON.parse(new TextDecoder().decode(stdout.subarray(0, end))));
    return { module: stdout.slice(end + 1), ...report };
  } finally {
    clearTimeout(late);
  }
}

async function feed(stream: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = stream.getWriter();
  try {
    await writer.write(bytes);
    await writer.close();
  } catch (error) {
    // The process refused before it read everything: its exit code says so.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}
