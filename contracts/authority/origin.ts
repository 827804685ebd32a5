/** Where the values of a call come from. docs/provenance.md. @module */
import * as z from "zod";
import { Colour } from "./colour.ts";
import { CallId, Digest, Millis, TaskId, ToolName } from "./ids.ts";
import type { JsonObject } from "../base/json.ts";

/** Most values of one call whose origin is told. */
export const MAX_ORIGINS = 64;

/** One value of a call's arguments and where it comes from. */
export const ValueOrigin = z.object({
  /** Its place in the arguments, `to.0`. Untrusted. */
  at: z.string().max(128),
  /**
   * `request`: it stands in the person's own words; `default`: as the tool's schema has it when nothing is said;
   * `record`: the id of the one thing of that server which the person's words name; `result`: it stands in the result
   * of a call; `agent`: in nothing that is known, so the agent wrote or composed it.
   */
  from: z.enum(["request", "default", "record", "result", "agent"]),
  /** The call whose result it stands in, its tool, and the colour of that result. */
  call: CallId.optional(),
  tool: ToolName.optional(),
  colour: Colour.optional(),
  /** Of an id: what the server listed with it, `filename: a.txt; size: 12`. Untrusted. */
  says: z.string().max(200).optional(),
}).strict();
/** See {@link ValueOrigin}. */
export type ValueOrigin = z.infer<typeof ValueOrigin>;

/**
 * Whether a call's tool was declared before anything untrusted was read: `usedUp`: more calls of it were made; `other`:
 * other tools were; `none`: no tool was.
 */
export const Declaration = z.enum(["declared", "usedUp", "other", "none"]);
/** See {@link Declaration}. */
export type Declaration = z.infer<typeof Declaration>;

/** How a call differs from the last call of its tool that went on, of this task or an earlier one of its principal. */
export const EarlierCall = z.object({
  task: TaskId,
  /** When that call went on. */
  at: Millis,
  /** Values that differ, by their place; `was` or `now` absent: the value is not there. Untrusted. */
  differs: z.array(
    z.object({
      at: z.string().max(128),
      was: z.string().max(80).optional(),
      now: z.string().max(80).optional(),
    }).strict(),
  ).max(16),
  /** Values that differ and are not told. */
  more: z.int().min(0),
}).strict();
/** See {@link EarlierCall}. */
export type EarlierCall = z.infer<typeof EarlierCall>;

/** A thing that a server listed: the values that its fields hold, each with the field's name. At most 64. */
export type ListedRecord = readonly (readonly [field: string, value: string | number])[];

/** A call that went on. `said`: names what its values say; `key` names the call, the same before and after a restart. */
export const MadeCall = z.object({ tool: ToolName, said: Digest, key: Digest }).strict();
/** See {@link MadeCall}. */
export type MadeCall = z.infer<typeof MadeCall>;

/** Who keeps what is known of a task's values is told so: by its start, its log, and what the person says. */
export interface ValueKeeper {
  /** Whether anything is known of the task: one that was put aside and goes on in the same kernel is. */
  knows(task: TaskId): boolean;
  /** A person's own words, whose colour is BLUE; `at`: when they were said, ms since 1970, where that is known. */
  said(task: TaskId, words: { readonly text: string; readonly at?: number }): void;
  /** The tools that the task needs. @throws Fault `conflict` when it said so before */
  declare(task: TaskId, tools: DeclaredTools): void;
  /** A call that changes something, or leaves the task, was let through. */
  performed(task: TaskId, call: MadeCall): void;
  /** What an outcome keeps of where values come from. */
  restore(task: TaskId, kept: JsonObject): void;
}

/** Tools that a task says it needs, with the most calls of each. */
export const DeclaredTools = z.array(
  z.object({ tool: ToolName, max: z.int().min(1).max(1_000) }).strict(),
).min(1).max(64);
/** See {@link DeclaredTools}. */
export type DeclaredTools = z.infer<typeof DeclaredTools>;
