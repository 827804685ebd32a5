/** Tools as a model sees them, and results of calls. @module */
import * as z from "zod";
import { CallId, Digest, ToolName } from "../authority/ids.ts";
import { Colour, Label } from "../authority/colour.ts";

/** How a call is decided. */
export const PermissionMode = z.enum(["auto", "consent", "stepUp", "forbidden"]);
export type PermissionMode = z.infer<typeof PermissionMode>;

/** A tool's description for models. */
export const ToolDescriptor = z.object({
  name: ToolName,
  description: z.string().min(1).max(4_096),
  /** The capability interface and the method that a call invokes. */
  interfaceId: z.string().max(128),
  methodName: z.string().max(128),
  /** JSON Schema of the argument object, as JSON text. */
  paramSchema: z.string().min(2).max(65_536),
  permission: PermissionMode,
  category: z.enum(["read", "stage", "mutate", "destroy", "network", "agent", "admin"]),
}).strict();
export type ToolDescriptor = z.infer<typeof ToolDescriptor>;

/** Whether a tool belongs to an imported server or a peer. */
export function isImported({ interfaceId }: Pick<ToolDescriptor, "interfaceId">): boolean {
  return interfaceId.startsWith("mcp:") || interfaceId.startsWith("a2a:");
}

const DESTROYING =
  /^(?:delete|remove|cancel|drop|clear|purge|erase|wipe|reset|revoke|destroy|uninstall|terminate|archive)$/;

/** Whether a tool's name says that it destroys, like `delete_file`, whatever its server claims. */
export function destroysByName({ methodName }: Pick<ToolDescriptor, "methodName">): boolean {
  return methodName.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().split(/[^a-z0-9]+/)
    .some((word) => DESTROYING.test(word));
}

/** The tools advertised for one turn. Calls name the snapshot that they refer to. */
export interface ToolSnapshot {
  /** SHA-256 over the canonical descriptors. */
  readonly id: Digest;
  readonly tools: readonly ToolDescriptor[];
}

/** Outcome of a proposed call: a closed set. */
export const Outcome = z.enum([
  "ok",
  "refusedByPolicy",
  "deniedByUser",
  "stepUpFailed",
  "executionError",
  "timedOut",
  "cancelled",
  "invalidArguments",
  "unknownTool",
]);
export type Outcome = z.infer<typeof Outcome>;

/** The answer to one call, as data. */
export const ToolResult = z.object({
  callId: CallId,
  outcome: Outcome,
  /** Redacted and cut to the tool's limit. */
  content: z.string().max(1_000_000),
  /** Set when the outcome is not `ok`. */
  error: z.string().max(8_192).optional(),
  colour: Colour,
  label: Label,
}).strict();
export type ToolResult = z.infer<typeof ToolResult>;
