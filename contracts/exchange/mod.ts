/**
 * Messages between agents, peers, MCP servers and people.
 *
 * @example
 * ```ts
 * import { PeerName } from "./mod.ts";
 * if (PeerName.safeParse("No Name").success) throw new Error("a wrong name passes");
 * ```
 * @module
 */
export * from "./exchange.ts";
export * from "./exchanges.ts";
export * from "./peer_words.ts";
export * from "./inbox.ts";
export * from "./mail.ts";
export * from "./lal.ts";
export * from "./mcp.ts";
export * from "./mcp_loan.ts";
