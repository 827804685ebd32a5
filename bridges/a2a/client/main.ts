/**
 * The entry of a bridge: the client of one A2A peer for one task, without any permission.
 * @module
 */
import { clock, hearWarnings, restoreWeb } from "../../mcp/client/bridge_powers.ts";
import "../../../port/prelude_powers.ts";
import { MCP_PORT_LIMITS } from "../../../contracts/exchange/mcp_limits.ts";
import { serveChild } from "../../../port/child_powers.ts";
import { makePeerBridge } from "./bridge.ts";
import { cipher, standInForBuffer } from "./crypto_powers.ts";

standInForBuffer();
await serveChild(
  (port) => makePeerBridge(port, { clock, cipher, restoreWeb, hearWarnings }),
  MCP_PORT_LIMITS,
);
