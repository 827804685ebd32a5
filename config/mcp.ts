/**
 * Merges `mcp:` of remit.yaml over the layers: any file only narrows remit.lock. Used by layers.ts
 * and bridges/mcp/registry/handover.ts.
 * @module
 */
import { cleared, type Label } from "../contracts/authority/mod.ts";
import type { McpServerName } from "../contracts/exchange/mod.ts";
import type { McpConfig } from "../contracts/policy/mod.ts";
import { defined } from "./narrow.ts";
import type { ConfigFile } from "./text.ts";

/** The limits on one server. */
export interface McpNarrowing {
  /** Tools switched off, by their names on the wire. */
  readonly off: readonly string[];
  readonly clearance?: Label;
  readonly samplingTokens?: number;
  readonly elicitation?: boolean;
}

/** The limits on imported servers. */
export interface MergedMcp {
  /** Servers in use; absent: every approved one. */
  readonly use?: readonly McpServerName[];
  readonly servers: Readonly<Partial<Record<McpServerName, McpNarrowing>>>;
  readonly searchAbove?: number;
}

/** No layer limits anything. */
export const NO_MCP: MergedMcp = Object.freeze({ servers: {} });

type Wish = NonNullable<NonNullable<McpConfig["servers"]>[McpServerName]>;

/** Puts a trusted layer over `have`: its settings for a server replace earlier ones, key by key. */
export function overlayMcp(have: MergedMcp, wish: McpConfig | undefined): MergedMcp {
  if (wish === undefined) return have;
  const { use = have.use, searchAbove = have.searchAbove } = wish;
  return {
    servers: joined(have, wish, (before, now) => ({ ...before, ...defined(now) })),
    ...(use === undefined ? {} : { use }),
    ...(searchAbove === undefined ? {} : { searchAbove }),
  };
}

/** Narrows `have` by an untrusted file: fewer servers and tools, less of everything. */
export function narrowMcp(
  have: MergedMcp,
  file: Pick<ConfigFile, "config" | "at">,
): { readonly mcp: MergedMcp; readonly notes: readonly string[] } {
  const { config: { mcp: wish } } = file;
  if (wish === undefined) return { mcp: have, notes: [] };
  const before = have.use;
  const use = wish.use === undefined || before === undefined
    ? wish.use ?? before
    : before.filter((name) => wish.use?.includes(name));
  const notes = wish.searchAbove === undefined
    ? []
    : [`${file.at(["mcp", "searchAbove"])}: "mcp.searchAbove" is the operator's`];
  return {
    notes,
    mcp: {
      ...(use === undefined ? {} : { use }),
      ...(have.searchAbove === undefined ? {} : { searchAbove: have.searchAbove }),
      servers: joined(have, wish, lower),
    },
  };
}

/** The lower of both settings, key by key; a setting of only one holds. */
function lower(before: McpNarrowing, now: Wish): McpNarrowing {
  const wish = defined(now);
  const clearance = before.clearance === undefined || wish.clearance === undefined
    ? before.clearance ?? wish.clearance
    : cleared(before.clearance, wish.clearance)
    ? before.clearance
    : wish.clearance;
  const tokens = [before.samplingTokens, wish.samplingTokens].filter((each) => each !== undefined);
  const asked = [before.elicitation, wish.elicitation].filter((each) => each !== undefined);
  return {
    off: [...new Set([...before.off, ...(wish.off ?? [])])],
    ...(clearance === undefined ? {} : { clearance }),
    ...(tokens.length === 0 ? {} : { samplingTokens: Math.min(...tokens) }),
    ...(asked.length === 0 ? {} : { elicitation: asked.every((each) => each) }),
  };
}

function joined(
  have: MergedMcp,
  wish: McpConfig,
  join: (before: McpNarrowing, now: Wish) => McpNarrowing,
): MergedMcp["servers"] {
  const servers: Partial<Record<McpServerName, McpNarrowing>> = { ...have.servers };
  for (const [key, now] of Object.entries(wish.servers ?? {})) {
    const name = key as McpServerName;
    if (now !== undefined) servers[name] = join(servers[name] ?? { off: [] }, now);
  }
  return servers;
}
