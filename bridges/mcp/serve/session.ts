/** A host's session, as the MCP server uses it; the work is done behind it. @module */
import type { ServeResult, ServeSession } from "../../../contracts/wire/wire_serve.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";
import { ProtocolError, ProtocolErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import { Fault } from "../../../contracts/base/fault.ts";

/** Lifetime and progress of a call. */
export interface CallLife {
  readonly signal: AbortSignal;
  /** Receives the call's progress. */
  onProgress(text: string): void;
  /** Milliseconds that it may wait for a person. */
  readonly waitMs: number;
}

/** A host's session. Every method rejects with a fault. */
export interface HostSession {
  readonly info: Omit<ServeSession, "session">;
  /** The tools that the gate advertises. */
  tools(): Promise<readonly ToolDescriptor[]>;
  /** Makes a call through the gate; a repeated id waits for the same call. */
  call(
    asked: { readonly call: string; readonly tool: string; readonly args: JsonObject },
    life: CallLife,
  ): Promise<ServeResult>;
  /** Runs a request as a task. */
  task(
    asked: { readonly call: string; readonly request: string; readonly agent?: string },
    life: CallLife,
  ): Promise<ServeResult>;
  /** Passes on the person's answer to a call's question. */
  answer(given: {
    readonly call: string;
    readonly question: string;
    readonly allow: boolean;
  }): Promise<void>;
  /** Calls `listener` when the tools change. Returns the unsubscriber. */
  onTools(listener: () => void): () => void;
}

/** The life of a call: progress is reported only if the host gave a token for this request. */
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
      // The host may be gone.
      notify({
        method: "notifications/progress",
        params: { progressToken, progress: steps, message: message.slice(0, 1_024) },
      }).catch(() => undefined);
    },
  };
}

/** Converts a fault outside of tool calls to a protocol error with the fault's message. */
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
