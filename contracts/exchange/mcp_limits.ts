/** Limits between the kernel and a bridge. Separate from wire_mcp.ts so that a bridge starts without zod. @module */
import type { PortLimits } from "../base/port.ts";

/** Port limits at both ends of a bridge's pipe. */
export const MCP_PORT_LIMITS: Partial<PortLimits> = Object.freeze({
  frameBytes: 24 * 1_048_576,
  nodes: 1_000_000,
  framesPerSecond: 20_000,
  pending: 512,
});

/** Longest line of a server's output, UTF-16 units; a longer one ends the session. */
export const MCP_LINE = 16 * 1_048_576;

/** Maximum number of records in one result, and of fields reported for one record. */
export const MAX_RECORDS = 512;
/** See {@link MAX_RECORDS}. */
export const MAX_FIELDS = 64;
