/** The files that a call staged or applied, by its committed record. @module */
import * as z from "zod";
import type { SeenEvent } from "./event_fields.ts";

const Paths = z.array(z.object({ path: z.string() }));
const Recorded = z.object({
  staged: Paths.optional().catch(undefined),
  applied: z.object({ changes: Paths }).optional().catch(undefined),
});

/** The paths in an outcome's record, untrusted; empty without a record. */
export function touchedBy(event: SeenEvent): {
  readonly staged: readonly string[];
  readonly applied: readonly string[];
} {
  const { data } = Recorded.safeParse(event.private["record"]);
  return {
    staged: data?.staged?.map((each) => each.path) ?? [],
    applied: data?.applied?.changes.map((each) => each.path) ?? [],
  };
}
