/** What went wrong with a peer, as a fault. @module */
import { Fault } from "../../../contracts/fault.ts";
import { cutText } from "../../mcp/client/mod.ts";

const ERROR_UNITS = 2_000;

/** Makes a fault of what the SDK threw. `verb` is `send the message`; what the peer wrote is cut. */
export function peerFault(verb: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const inner = error instanceof Error && error.cause instanceof Fault ? error.cause : undefined;
  if (inner !== undefined) return inner;
  const why = error instanceof Error ? error.message : "it failed";
  return new Fault("upstream", `Cannot ${verb}: ${cutText(why, ERROR_UNITS)}`, { cause: error });
}
