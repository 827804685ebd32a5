/**
 * The permitted calls of a planned program: shown to a person, enforced by the gate.
 * docs/planned_programs.md.
 * @module
 */
import * as z from "zod";
import type { Json } from "../base/json.ts";
import { Digest, ToolName } from "./ids.ts";

/** Where a value of a call comes from. */
const PlanArgument = z.object({
  /** Path in the arguments: `to`, `items.0.name`. */
  name: z.string().max(256),
  /**
   * `request`: the value is in the request, word for word; `planner`: in the program's text and not
   * in the request; `derived`: computed from the results of the calls in `from`, or from the
   * program's own text if `from` is empty.
   */
  origin: z.enum(["request", "planner", "derived"]),
  /** The value in the program's text, as JSON. */
  value: z.string().max(1_024).optional(),
  from: z.array(z.int().min(1)).max(100).optional(),
}).strict();
/** Where a value of a call comes from. */
export type PlanArgument = z.infer<typeof PlanArgument>;

/** A place in a program that makes a call. */
export const PlanSite = z.object({
  /** From 1, in the order of the text. */
  site: z.int().min(1).max(1_000),
  tool: ToolName,
  descriptor: Digest,
  /** Maximum number of calls from this place. */
  atMost: z.int().min(1).max(10_000),
  /** The gate's decision on its calls: allowed, covered by the answer to this plan, asked one by one, or refused. */
  becomes: z.enum(["passes", "covered", "asks", "refused"]),
  /** Sites whose results decide whether, or how often, this call is made. */
  under: z.array(z.int().min(1)).max(100),
  arguments: z.array(PlanArgument).max(256),
}).strict();
export type PlanSite = z.infer<typeof PlanSite>;

/** A program as a question shows it. */
export const Plan = z.object({
  /** SHA-256 of its text. */
  program: Digest,
  sites: z.array(PlanSite).max(100),
}).strict();
export type Plan = z.infer<typeof Plan>;

/** The required form of a site's arguments: literals of the text are fixed, derived values are free. */
export type PlanTemplate =
  | { readonly literal: Json }
  | { readonly from: readonly number[] }
  | { readonly list: readonly PlanTemplate[] }
  | { readonly record: Readonly<Record<string, PlanTemplate>> };

/** A plan with the templates that its calls must match. */
export interface HeldPlan extends Plan {
  /** Index 0 is site 1. */
  readonly templates: readonly PlanTemplate[];
}
