/** Third-party servers from npm, at exact versions. */
import assert from "node:assert/strict";
import type { McpLaunch } from "../../contracts/exchange/mod.ts";
import { onMachine } from "./remit.ts";

/** The versions that these tests run. */
export const PACKAGES = {
  everything: "@modelcontextprotocol/server-everything@2026.8.31",
  filesystem: "@modelcontextprotocol/server-filesystem@2026.8.31",
  memory: "@modelcontextprotocol/server-memory@2026.8.31",
} as const;

let fetched: Promise<Fetched> | undefined;
export interface Fetched {
  readonly folder: string;
  readonly launches: Readonly<Record<keyof typeof PACKAGES, McpLaunch>>;
}

/** The trees of all three, fetched once for a test run, as `remit mcp add` fetches them. */
export function trees(): Promise<Fetched> {
  return fetched ??= (async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "mcp-trees-" }));
    addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
    const found = new Map<string, McpLaunch>();
    await onMachine(async (machine) => {
      for (const [name, pinned] of Object.entries(PACKAGES)) {
        const args = name === "filesystem" ? [machine.dir] : [];
        // Without a person to ask, the server is fetched, pinned and inspected, and not approved: 75.
        const added = await machine.remit(["mcp", "add", name, "--", "npx", "-y", pinned, ...args]);
        assert.equal(added.code, 75, `${added.stdout}${added.stderr}`);
      }
      const lock = `${machine.state}/remit.lock`;
      const { servers } = JSON.parse(await Deno.readTextFile(lock)) as {
        servers: { name: string; launch: McpLaunch }[];
      };
      for (const { name, launch } of servers) found.set(name, launch);
      const kept = await new Deno.Command("cp", {
        args: ["-a", `${machine.state}/mcp/trees/.`, folder],
      }).output();
      assert.ok(kept.success, new TextDecoder().decode(kept.stderr));
    });
    const launch = (name: keyof typeof PACKAGES): McpLaunch => found.get(name) ?? assert.fail(name);
    return {
      folder,
      launches: {
        ...{ everything: launch("everything"), filesystem: launch("filesystem") },
        memory: launch("memory"),
      },
    };
  })();
}
