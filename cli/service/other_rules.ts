/** Tasks that an earlier kernel left under other rules: they wait for their operator's word. DESIGN section 6. @module */
import { AgentTask, type Json, OTHER_RULES, type TaskId } from "../../contracts/mod.ts";
import { recordOf, rowsOf } from "../command.ts";

/** Tells whether a task, as a kernel shows it, waits so. */
export function waitsForRules({ reason }: Readonly<Record<string, Json>>): boolean {
  return typeof reason === "string" && reason.startsWith(OTHER_RULES);
}

/** Those of a kernel. */
export async function tasksOfOtherRules(
  link: { ask(op: string, body: Json): Promise<Json> },
): Promise<readonly TaskId[]> {
  return rowsOf(await link.ask("tasks", {})).map(recordOf).filter(waitsForRules)
    .map(({ id }) => AgentTask.shape.id.parse(id));
}
