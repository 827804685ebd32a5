/** The receive-side limits that hold unless a port is given others. @module */
import type { PortLimits } from "../contracts/port.ts";

/** What one JSON text may hold: the part of {@link PortLimits} that concerns a single frame. */
export type JsonLimits = Pick<PortLimits, "frameBytes" | "depth" | "nodes">;

/** 1 MiB a frame, 64 levels, 100,000 values, 1,024 requests at once, 20,000 frames a second. */
export const DEFAULT_PORT_LIMITS: PortLimits = Object.freeze({
  frameBytes: 1 << 20,
  depth: 64,
  nodes: 100_000,
  pending: 1_024,
  framesPerSecond: 20_000,
});
