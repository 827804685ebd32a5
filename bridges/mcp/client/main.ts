/**
 * The entry of a bridge: the client of one MCP server for one task, without any permission.
 * @module
 */
import { clock, hearWarnings, restoreWeb } from "./bridge_powers.ts";
import "../../../port/prelude_powers.ts";
import { MCP_PORT_LIMITS } from "../../../contracts/exchange/mcp_limits.ts";
import { serveChild } from "../../../port/child_powers.ts";
import { makeBridge } from "./bridge.ts";
import { warm } from "./pretended_server.ts";

// Only a pooled bridge has time to warm up: somebody waits for the others.
if (Deno.args[0] === "pooled") await warm({ clock, restoreWeb });
await serveChild((port) => makeBridge(port, { clock, restoreWeb, hearWarnings }), MCP_PORT_LIMITS);
