/** Where the values of a call come from. docs/provenance.md. @module */
import * as z from "zod";
import { Colour } from "./colour.ts";
import { CallId, Digest, Millis, TaskId, ToolName } from "./ids.ts";
import type { JsonObject } from "../base/json.ts";

/** Maximum number of values of one call whose origin is recorded. */
export const MAX_ORIGINS = 64;

/** One value of a call's arguments and where it comes from. */
export const ValueOrigin = z.object({
  /** Path of the value in the arguments, `to.0`. Untrusted. */
  at: z.string().max(128),
  /**
   * `request`: the value is in the person's own words; `default`: the default of the tool's schema;
   * `record`: the id of the only record of that server that the person's words name; `result`: the
   * value is in the result of a call; `agent`: found in no known text, so the agent wrote or
   * composed it.
   */
  from: z.enum(["request", "default", "record", "result", "agent"]),
  /** The call whose result contains the value, its tool, and the colour of that result. */
  call: CallId.optional(),
  tool: ToolName.optional(),
  colour: Colour.optional(),
  /** For an id: the fields that the server listed with it, `filename: a.txt; size: 12`. Untrusted. */
  says: z.string().max(200).optional(),
}).strict();
export type ValueOrigin = z.infer<typeof ValueOrigin>;

/**
 * Whether the call's tool was declared before the task read anything untrusted. `usedUp`: the
 * declared number of calls is exceeded; `other`: only other tools were declared; `none`: no tool
 * was declared.
 */
export const Declaration = z.enum(["declared", "usedUp", "other", "none"]);
export type Declaration = z.infer<typeof Declaration>;

/** How a call differs from the last performed call of its tool, in this task or an earlier task of its principal. */
export const EarlierCall = z.object({
  task: TaskId,
  /** When that call was performed. */
  at: Millis,
  /** Values that differ, by path; a missing `was` or `now` means that the value is absent. Untrusted. */
  differs: z.array(
    z.object({
      at: z.string().max(128),
      was: z.string().max(80).optional(),
      now: z.string().max(80).optional(),
    }).strict(),
  ).max(16),
  /** Number of further differing values that are not listed. */
  more: z.int().min(0),
}).strict();
export type EarlierCall = z.infer<typeof EarlierCall>;

/** A record that a server listed, as pairs of field name and value; at most 64 pairs. */
export type ListedRecord = readonly (readonly [field: string, value: string | number])[];

/** A performed call. `said`: digest of its values; `key`: digest that names the call and survives a restart. */
export const MadeCall = z.object({ tool: ToolName, said: Digest, key: Digest }).strict();
export type MadeCall = z.infer<typeof MadeCall>;

/** Receives what is learned about the values of a task: from its start, its log, and the person's words. */
export interface ValueKeeper {
  /** Whether anything is known about the task; true for a suspended task that resumes in the same kernel. */
  knows(task: TaskId): boolean;
  /** Adds a person's own words (BLUE). `at`: when they were written, milliseconds since 1970, if known. */
  said(task: TaskId, words: { readonly text: string; readonly at?: number }): void;
  /** Declares the tools that the task needs. @throws Fault `conflict` on a second declaration */
  declare(task: TaskId, tools: DeclaredTools): void;
  /** Records that a call which changes something or leaves the task was permitted. */
  performed(task: TaskId, call: MadeCall): void;
  /** Restores the origins that an outcome recorded. */
  restore(task: TaskId, kept: JsonObject): void;
}

/** The tools that a task declares, with the maximum number of calls of each. */
export const DeclaredTools = z.array(
  z.object({ tool: ToolName, max: z.int().min(1).max(1_000) }).strict(),
).min(1).max(64);
export type DeclaredTools = z.infer<typeof DeclaredTools>;
