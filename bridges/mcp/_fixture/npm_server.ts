/** Third-party servers from npm, at exact versions. @module */
import assert from "node:assert/strict";
import type { LineServer } from "./bridge_process.ts";

/** The versions that tests run. */
const NPM_SERVERS = Object.freeze({
  everything: "npm:@modelcontextprotocol/server-everything@2026.8.31",
  filesystem: "npm:@modelcontextprotocol/server-filesystem@2026.8.31",
  memory: "npm:@modelcontextprotocol/server-memory@2026.8.31",
});

const FLAGS = ["--quiet", "--no-prompt", "--no-config", "--no-lock"];
const fetched = new Map<string, Promise<void>>();

async function fetchPackage(name: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--quiet", "--no-config", "--no-lock", name],
    stdout: "null",
    stderr: "piped",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

/**
 * The start line of a server. The package is fetched into Deno's own cache if it is missing: the first time that needs
 * the registry, as the build does. The server runs with this test's rights: tests of a bridge are not about its walls.
 */
export async function npmServer(
  server: keyof typeof NPM_SERVERS,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<LineServer> {
  const name = NPM_SERVERS[server];
  const ready = fetched.get(name) ?? fetchPackage(name);
  fetched.set(name, ready);
  await ready;
  return { line: [Deno.execPath(), "run", ...FLAGS, "-A", "--cached-only", name, ...args], env };
}
