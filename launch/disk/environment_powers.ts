/** The caller's folder, environment, clock and ids. Wired in cli/main.ts. @module */
import { accessSync, constants } from "node:fs";
import type { Environment } from "./machine.ts";
import { diskWhy } from "./disk_fault.ts";

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

function randomText(count: number): string {
  let text = "";
  while (text.length < count) {
    for (const byte of crypto.getRandomValues(new Uint8Array(count * 2))) {
      // 252 is the largest multiple of 36 in a byte: every character is equally likely.
      if (byte < 252 && text.length < count) text += ALPHABET.charAt(byte % 36);
    }
  }
  return text;
}

/**
 * Why a folder cannot hold sockets; undefined where it can. su, sudo, cron and containers keep the variable of a login
 * whose folder is missing or belongs to another account.
 */
function runtimeObstacle(path: string, uid: number): string | undefined {
  try {
    const found = Deno.statSync(path);
    if (!found.isDirectory) return "it is no folder";
    const shared = ((found.mode ?? 0) & 0o002) !== 0;
    if (found.uid !== uid && !shared) return "it belongs to another account";
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "it is not there";
    // Deno refuses programs access to /sys, /proc and /dev.
    if (error instanceof Deno.errors.NotCapable) return "it is no place for files";
    const why = diskWhy(error);
    if (why === undefined) throw error;
    return why;
  }
}

/** Reads the caller's environment. `deno task` changes the folder: the caller's is in INIT_CWD. */
export function readEnvironment(home: string): Environment {
  const underTask = Deno.env.get("REMIT_CWD") ?? Deno.env.get("INIT_CWD");
  const cwd = underTask !== undefined && underTask.startsWith("/") ? underTask : Deno.cwd();
  const uid = Deno.uid() ?? 0;
  const runtime = Deno.env.get("XDG_RUNTIME_DIR");
  const unusable = runtime?.startsWith("/") === true ? runtimeObstacle(runtime, uid) : undefined;
  return Object.freeze({
    cwd,
    env: (name: string) =>
      name === "XDG_RUNTIME_DIR" && unusable !== undefined ? undefined : Deno.env.get(name),
    ...(unusable === undefined
      ? {}
      : { unusableRuntime: `XDG_RUNTIME_DIR names "${runtime}": ${unusable}` }),
    uid,
    // The launcher finds Deno or npx by itself, so a person can type this command anywhere.
    command: Deno.env.get("REMIT_COMMAND") ?? (cwd === home ? "bin/remit" : `${home}/bin/remit`),
    root: Deno.uid() === 0,
    linux: Deno.build.os === "linux",
    home,
    now: () => Date.now(),
    id: (prefix: string) => prefix + randomText(12),
  });
}
