/** The programs of the MCP bridge, each built when it is first needed. docs/decision/0015. @module */
import { WASM_PAGES } from "../../contracts/base/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import {
  type ProgramBuild,
  programFile,
  type ProgramSource,
  provideProgram,
  provideWarmProgram,
} from "./program_cache_powers.ts";

/** `client` speaks to one server, `tree` checks its files, `relay` is its connection out of a namespace, `a2a` speaks to a peer. */
type McpProgram = "client" | "tree" | "relay" | "a2a";

const SHARED = ["contracts", "port", "text"];

const SOURCES: Readonly<Record<McpProgram, ProgramSource>> = {
  client: sourceOf("client", "browser"),
  tree: { ...sourceOf("tree", "deno"), pages: WASM_PAGES.mcpTree },
  relay: sourceOf("relay", "deno"),
  a2a: {
    ...{ entry: "bridges/a2a/client/main.ts", platform: "browser", folder: "a2a-client" },
    ...{ name: "a2a", folders: [...SHARED, "bridges/a2a/client", "bridges/mcp/client"] },
  },
};

function sourceOf(name: McpProgram, platform: ProgramSource["platform"]): ProgramSource {
  const folder = `bridges/mcp/${name}`;
  return {
    ...{ entry: `${folder}/main.ts`, platform, folder: `mcp-${name}`, name },
    folders: [...SHARED, folder],
  };
}

/** Absolute paths of the programs that a kernel starts for imported servers, built or not. */
export function mcpPrograms(
  parts: Pick<ProgramBuild, "home" | "cache" | "known">,
): Pick<KernelConfig["bundles"], "mcp" | "mcpTree" | "mcpRelay" | "a2a"> {
  return {
    mcp: programFile(SOURCES.client, parts),
    mcpTree: programFile(SOURCES.tree, parts),
    mcpRelay: programFile(SOURCES.relay, parts),
    a2a: programFile(SOURCES.a2a, parts),
  };
}

/** Builds the programs that a kernel starts for imported servers, where they are missing. @throws Fault `unavailable` when one does not build. */
export async function provideMcpPrograms(parts: ProgramBuild): Promise<void> {
  let announced = false;
  const onBuild = (): void => {
    if (!announced) parts.onBuild();
    announced = true;
  };
  // One after another: each build uses a whole core.
  for (const which of ["client", "tree", "relay", "a2a"] as const) {
    // `tree` may only read Deno's caches, so it cannot fill them itself.
    const provide = which === "tree" ? provideWarmProgram : provideProgram;
    await provide(SOURCES[which], { ...parts, onBuild });
  }
}
