/** How long a request of a host lives, and what becomes of its faults. @module */
import { ProtocolError, ProtocolErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import { Fault } from "../../../contracts/fault.ts";
import type { CallLife } from "./session.ts";

/** A call's life as its host asked for it: progress only where the host named a token, and for that very request. */
export function lifeOf(context: ServerContext, waitMs: number): CallLife {
  const { signal, notify, _meta } = context.mcpReq;
  const progressToken = _meta?.progressToken;
  let steps = 0;
  return {
    signal,
    waitMs: progressToken === undefined ? 0 : waitMs,
    onProgress(message): void {
      if (progressToken === undefined) return;
      steps += 1;
      // A host that has gone hears nothing.
      notify({
        method: "notifications/progress",
        params: { progressToken, progress: steps, message: message.slice(0, 1_024) },
      }).catch(() => undefined);
    },
  };
}

/** A fault outside a tool's call is an error of the protocol, with its own sentence. */
export async function guarded<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const mine = ["notFound", "invalidInput", "refused"].includes(error.code);
    throw new ProtocolError(
      mine ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      error.message,
    );
  }
}
