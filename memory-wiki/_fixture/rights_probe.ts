/** A program that runs as the wiki's process does and answers any request with its permissions. @module */
import { serveChild } from "../../port/child_powers.ts";

type Try = { readonly what: string; readonly paths: readonly string[] };

async function outcome(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return "done";
  } catch (error) {
    return error instanceof Error ? error.name : "thrown";
  }
}

const TRIES: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  read: (path) => Deno.readTextFile(path),
  write: (path) => Deno.writeTextFile(path, "theirs"),
  list: (path) => Array.fromAsync(Deno.readDir(path)),
  run: (path) => new Deno.Command(path).output(),
  connect: (path) => fetch(path),
  env: (path) =>
    Promise.resolve().then(() => Deno.env.toObject()[path] ?? Promise.reject(new Error("unset"))),
  link: (path) => Deno.symlink("/etc/passwd", path).then(() => Deno.readTextFile(path)),
};

await serveChild(() => ({
  ask: async (_op, body) => {
    const found: Record<string, string> = {};
    // TRUST: the test's own.
    for (const { what, paths } of body as unknown as readonly Try[]) {
      for (const path of paths) {
        found[`${what} ${path}`] = await outcome(() => TRIES[what]?.(path) ?? Promise.reject());
      }
    }
    return found;
  },
  tell() {},
}));
