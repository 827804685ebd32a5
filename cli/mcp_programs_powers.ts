/** The programs of the MCP bridge, each built when it is first needed. docs/decision/0015. @module */
import { join } from "node:path";
import type { KernelConfig } from "../contracts/mod.ts";
import { buildProgram, digestSources } from "./bundles_powers.ts";

/** `client` speaks to one server, `tree` checks its files, `relay` is its way out of a namespace. */
export type McpProgram = "client" | "tree" | "relay";

/** What they are built with. */
export interface McpProgramBuild {
  /** Of Remit's own sources. */
  readonly home: string;
  readonly cache: string;
  /** Said before a build, which takes seconds. */
  readonly onBuild: () => void;
}

interface Source {
  readonly entry: string;
  readonly platform: "deno" | "browser";
  /** What its bundle is made of: a change elsewhere builds nothing anew. */
  readonly folders: readonly string[];
}

const SOURCES: Readonly<Record<McpProgram, Source>> = {
  client: {
    entry: "bridges/mcp/client/main.ts",
    // Packages take their browsers' forms: it has no permission that a Node.js layer needs.
    platform: "browser",
    folders: ["contracts", "port", "text", "bridges/mcp/client"],
  },
  tree: {
    entry: "bridges/mcp/tree/main.ts",
    platform: "deno",
    folders: ["contracts", "port", "text", "bridges/mcp/tree"],
  },
  relay: {
    entry: "bridges/mcp/relay/main.ts",
    platform: "deno",
    folders: ["contracts", "port", "text", "bridges/mcp/relay"],
  },
};

/** Where the program of these sources lies once it is built. */
export function mcpProgramFile(
  which: McpProgram,
  { home, cache }: Pick<McpProgramBuild, "home" | "cache">,
): string {
  const digest = digestSources(home, SOURCES[which].folders).slice(0, 32);
  return join(cache, `mcp-${which}-${digest}`, `${which}.js`);
}

/** Absolute paths of the programs that a kernel starts for imported servers, built or not. */
export function mcpPrograms(
  parts: Pick<McpProgramBuild, "home" | "cache">,
): Pick<KernelConfig["bundles"], "mcp" | "mcpTree" | "mcpRelay"> {
  return {
    mcp: mcpProgramFile("client", parts),
    mcpTree: mcpProgramFile("tree", parts),
    mcpRelay: mcpProgramFile("relay", parts),
  };
}

/**
 * Finds a program of these sources, or builds it: whole or not at all, also when two build at once.
 * Returns its absolute path.
 *
 * @throws Fault `unavailable` when it does not build.
 */
export async function provideMcpProgram(
  which: McpProgram,
  parts: McpProgramBuild,
): Promise<string> {
  const { entry, platform } = SOURCES[which];
  const file = mcpProgramFile(which, parts);
  await buildProgram({ ...parts, file, entry, platform });
  return file;
}

/** Builds what a kernel starts for imported servers, where it is not built. Throws as {@link provideMcpProgram}. */
export async function provideMcpPrograms(parts: McpProgramBuild): Promise<void> {
  let said = false;
  const onBuild = (): void => {
    if (!said) parts.onBuild();
    said = true;
  };
  // One after another: each build wants a whole core.
  for (const which of ["client", "tree", "relay"] as const) {
    await provideMcpProgram(which, { ...parts, onBuild });
  }
}
