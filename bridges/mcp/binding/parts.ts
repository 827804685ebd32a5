/** What the tools of an imported server are bound over: powers of one task, handed in. @module */
import type { Colour, Label } from "../../../contracts/colour.ts";
import type { JsonObject } from "../../../contracts/json.ts";
import type { Scope } from "../../../contracts/lease.ts";
import type { ImportedTool, McpWords } from "../../../contracts/mcp.ts";
import type { GrantedCall } from "../../../contracts/power.ts";
import type { ProcessRow } from "../../../contracts/process.ts";
import type { McpAnswer } from "../../../contracts/wire_mcp.ts";
import type { Artifact } from "../../../contracts/workspace.ts";

/** One request to the server, on behalf of a call that the gate has let through. */
export interface McpAsking {
  readonly op: "call" | "read" | "prompt" | "task" | "artifact";
  /** The body of the op, without its id and deadline. */
  readonly body: JsonObject;
  /** `read`: while it runs the server changes nothing. */
  readonly holds: ImportedTool["holds"];
  /** The tool whose review must still stand when the server has started; absent: nothing is pinned. */
  readonly tool?: ImportedTool;
}

/** Bytes of a result that are kept for a person. */
export interface KeptBytes {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly colour: Colour;
  readonly label: Label;
}

/** How confidential what a server may know by now is: rises with what it is sent. */
export interface CarriedLabel {
  label: Label;
}

/** What {@link bindImported} is handed. */
export interface McpBindParts {
  /** Takes the call's token, once. Throws as the token does. */
  redeem(call: GrantedCall): void;
  /** Whether a live lease of the process covers the scope, or would at its start. */
  held(process: ProcessRow, scope: Scope): boolean;
  /** Why a tool does not stand as reviewed now; undefined when it does. */
  suspended(tool: ImportedTool): string | undefined;
  /** Rejects with a fault: whatever it says of the server's is that server's word. */
  ask(asking: McpAsking, call: GrantedCall, signal: AbortSignal): Promise<McpAnswer>;
  /** What the server says of itself. */
  words(call: GrantedCall, signal: AbortSignal): Promise<McpWords>;
  /** Keeps bytes as an artifact, in quarantine. Rejects `tooLarge`. */
  keep(kept: KeptBytes): Promise<Artifact>;
  /** Folds what a committed outcome records into the task. */
  fold(record: JsonObject): void;
  /** How confidential what the server knows is: what it can read, and what it was sent. Raised here. */
  readonly carried: CarriedLabel;
}
