/** A host's session, as the MCP server sees it: whatever does the work is behind this. @module */
import type { ServeResult, ServeSession } from "../../../contracts/wire/wire_serve.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";
import { ProtocolError, ProtocolErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import { Fault } from "../../../contracts/base/fault.ts";

/** How long a call lives, and who hears of it. */
export interface CallLife {
  readonly signal: AbortSignal;
  /** What the call says of itself while it runs. */
  onProgress(text: string): void;
  /** Milliseconds that it may wait for a person. */
  readonly waitMs: number;
}

/** A host's session. Every method rejects with a fault. */
export interface HostSession {
  readonly info: Omit<ServeSession, "session">;
  /** The tools that the gate advertises now. */
  tools(): Promise<readonly ToolDescriptor[]>;
  /** Makes a call through the gate; the same id again waits for the same call. */
  call(
    asked: { readonly call: string; readonly tool: string; readonly args: JsonObject },
    life: CallLife,
  ): Promise<ServeResult>;
  /** Runs a task of its own. */
  task(
    asked: { readonly call: string; readonly request: string; readonly agent?: string },
    life: CallLife,
  ): Promise<ServeResult>;
  /** Says what the host's person answered to the question of a call. */
  answer(said: {
    readonly call: string;
    readonly question: string;
    readonly allow: boolean;
  }): Promise<void>;
  /** Calls `listener` when the tools are others. Returns the unsubscriber. */
  onTools(listener: () => void): () => void;
}

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
