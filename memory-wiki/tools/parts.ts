/** What the memory's tools are handed. @module */
import type { Json, JsonObject } from "../../contracts/json.ts";
import { Fault } from "../../contracts/fault.ts";
import type { Scope } from "../../contracts/lease.ts";
import type { GrantedCall } from "../../contracts/power.ts";
import type { TaskMemory } from "../../contracts/task.ts";

/** How a request to the wiki's process is made. */
export interface AskWikiOptions {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  /** Something is written: the answer is waited for although the call was cancelled. */
  readonly writes?: boolean;
}

/** A task's wiki, and whose memory it is. */
export interface MemoryParts {
  readonly memory: TaskMemory;
  /** The task's agent: whose notes about the person these are. */
  readonly agent: string;
  /** Asks the wiki's process an op of contracts/wire_wiki.ts. Rejects with a fault. */
  ask(op: string, body: Json, options: AskWikiOptions): Promise<Json>;
  /** Takes a call's token, once. @throws {Fault} as the token does. */
  redeem(call: GrantedCall): void;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Milliseconds for one look. */
export const LOOK_MS = 30_000;
/** Milliseconds for one write. */
export const WRITE_MS = 60_000;

/** A scope of the memory. Paths: `wiki`, `log`, `user/AGENT`. */
export function memoryScope(right: "read" | "write", path: string): Scope {
  return { resource: "memory", right, path };
}

/** An argument that the tool's schema has as text. */
export function textOf(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value === "string") return value;
  throw new Fault("invalidArguments", `Cannot use argument "${name}": it is not a text`);
}

/** An argument that the tool's schema has as a list of texts; a call that leaves it out has none. */
export function textsOf(args: JsonObject, name: string): readonly string[] {
  const value = args[name] ?? [];
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  throw new Fault("invalidArguments", `Cannot use argument "${name}": it is not a list of texts`);
}

/** An argument that the tool's schema has as a whole number. */
export function numberOf(args: JsonObject, name: string, absent: number): number {
  const value = args[name] ?? absent;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new Fault("invalidArguments", `Cannot use argument "${name}": it is not a whole number`);
}
