/** Starts a kernel that outlives this process. DESIGN section 1. @module */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import type { KernelConfig } from "../contracts/mod.ts";
import { kernelFlags } from "./kernel_flags.ts";

const LOG_LIMIT = 1_000_000;

/** A kernel that was just started. */
export interface StartedKernel {
  /** Resolves with the exit code, should it end before anybody could reach it. */
  readonly ended: Promise<number>;
  /** What it wrote before it ended: untrusted text. */
  log(): string;
}

/** Starts a kernel, detached, its words going to `dir`/log. */
export function startKernel(
  config: KernelConfig,
  options: { readonly bundle: string; readonly mounts: readonly string[] },
): StartedKernel {
  const path = join(config.dir, "log");
  const size = ((): number => {
    try {
      return Deno.statSync(path).size;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return 0;
      throw error;
    }
  })();
  // Between runs only, as a writer to an open file is not capped: a kernel says next to nothing.
  const from = size > LOG_LIMIT ? 0 : size;
  if (from === 0) Deno.writeFileSync(path, new Uint8Array(), { mode: 0o600 });
  const out = openSync(path, "a", 0o600);
  const child = spawn(config.programs.deno, kernelFlags(config, options), {
    stdio: ["pipe", out, out],
    detached: true,
    cwd: config.dir,
    env: {
      DENO_DIR: config.denoDir,
      DENO_NO_UPDATE_CHECK: "1",
      NO_COLOR: "1",
    },
  });
  const ended = Promise.withResolvers<number>();
  child.on("error", () => ended.resolve(-1));
  child.on("exit", (code) => ended.resolve(code ?? -1));
  child.stdin?.on("error", () => {
    // It ended before it read: `ended` says so.
  });
  child.stdin?.end(`${JSON.stringify(config)}\n`);
  child.unref();
  closeSync(out);
  return Object.freeze({
    ended: ended.promise,
    log: () => Deno.readTextFileSync(path).slice(from),
  });
}
