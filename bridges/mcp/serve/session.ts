/** A host's session, as the MCP server sees it: whatever does the work is behind this. @module */
import type { ServeResult, ServeSession } from "../../../contracts/wire_serve.ts";
import type { JsonObject } from "../../../contracts/json.ts";
import type { ToolDescriptor } from "../../../contracts/tool.ts";

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
