/** What a planned program may do, as a person is shown it and the gate holds it to it. docs/planned_programs.md. @module */
import * as z from "zod";
import type { Json } from "../base/json.ts";
import { Digest, ToolName } from "./ids.ts";

/** Where a value of a call comes from. */
const PlanArgument = z.object({
  /** Its place in the arguments: `to`, `items.0.name`. */
  name: z.string().max(256),
  /**
   * `request`: it stands in the request, word for word; `planner`: the program's text says it, and the request does
   * not; `derived`: computed, from what the calls `from` brought, or from the program's own text where there are none.
   */
  origin: z.enum(["request", "planner", "derived"]),
  /** What the program's text says, JSON. */
  value: z.string().max(1_024).optional(),
  from: z.array(z.int().min(1)).max(100).optional(),
}).strict();
/** See the schema. */
export type PlanArgument = z.infer<typeof PlanArgument>;

/** A place of a program that makes a call. */
export const PlanSite = z.object({
  /** From 1, in the order of the text. */
  site: z.int().min(1).max(1_000),
  tool: ToolName,
  descriptor: Digest,
  /** Most calls that it makes. */
  atMost: z.int().min(1).max(10_000),
  /** What becomes of its calls: they pass, this answer covers them, each asks, or none passes. */
  becomes: z.enum(["passes", "covered", "asks", "refused"]),
  /** Calls on whose results it depends whether, or how often, it is made. */
  under: z.array(z.int().min(1)).max(100),
  arguments: z.array(PlanArgument).max(256),
}).strict();
/** See {@link PlanSite}. */
export type PlanSite = z.infer<typeof PlanSite>;

/** A program, as a person is asked about it. */
export const Plan = z.object({
  /** SHA-256 of its text. */
  program: Digest,
  sites: z.array(PlanSite).max(100),
}).strict();
/** See {@link Plan}. */
export type Plan = z.infer<typeof Plan>;

/** What a call of a site must look like: values of the text as they are, others free. */
export type PlanTemplate =
  | { readonly literal: Json }
  | { readonly from: readonly number[] }
  | { readonly list: readonly PlanTemplate[] }
  | { readonly record: Readonly<Record<string, PlanTemplate>> };

/** A plan with what its calls are held to. */
export interface HeldPlan extends Plan {
  /** By site, from 1. */
  readonly templates: readonly PlanTemplate[];
}
