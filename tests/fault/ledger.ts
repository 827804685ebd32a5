/** The ledger: outside of the kernel, it counts the effects that reach it. */
import { join } from "node:path";
import { cache, testBundles } from "../fake/kernel.ts";

/** Effects that were counted. */
export interface Ledger extends AsyncDisposable {
  readonly socket: string;
  /** The idempotency key of every post, in order. */
  readonly posts: readonly string[];
}

/** Opens a ledger on a unix socket. */
export function openLedger(socket: string): Ledger {
  const posts: string[] = [];
  const listener = Deno.listen({ transport: "unix", path: socket });
  const served = (async (): Promise<void> => {
    for await (const connection of listener) {
      const buffer = new Uint8Array(256);
      // One write of the poster, far below a pipe's atomic size.
      const n = await connection.read(buffer);
      posts.push(new TextDecoder().decode(buffer.subarray(0, n ?? 0)).trim());
      // The poster may have been killed: it is counted all the same.
      await connection.write(new TextEncoder().encode("counted")).catch(() => undefined);
      connection.close();
    }
  })();
  return {
    socket,
    posts,
    async [Symbol.asyncDispose](): Promise<void> {
      listener.close();
      await served;
    },
  };
}

const ROOT = new URL("../../", import.meta.url);
const built: { bundle?: Promise<string> } = {};

/** The real kernel's program with the ledger tool in the place of `http_fetch`. */
export function ledgerKernel(): Promise<string> {
  return built.bundle ??= bundle();
}

async function bundle(): Promise<string> {
  const { digest } = await testBundles();
  const folder = join(cache(), `fault-${digest.slice(0, 32)}`);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const config = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const map = {
    imports: {
      ...config.imports,
      [new URL("net/mod.ts", ROOT).href]: new URL("tests/fault/ledger_tool.ts", ROOT).href,
    },
    nodeModulesDir: "none",
  };
  const path = join(folder, "deno.json");
  await Deno.writeTextFile(path, JSON.stringify(map));
  const out = join(folder, "kernel.js");
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--no-check", "--no-lock", "--config", path, "--platform", "deno"],
      ...["-o", out, new URL("kernel/main.ts", ROOT).pathname],
    ],
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return out;
}
