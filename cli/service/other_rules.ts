/** Tasks that an earlier kernel left under other rules: they wait for their operator's word. @module */
import {
  AgentTask,
  type Json,
  OTHER_RULES,
  TASK_TRANSITIONS,
  type TaskId,
  TaskStatus,
} from "../../contracts/mod.ts";
import { recordOf, rowsOf } from "../command.ts";

/** How a task stands that is not over. */
export const UNFINISHED: readonly TaskStatus[] = TaskStatus.options.filter((each) =>
  TASK_TRANSITIONS[each].length > 0
);

/** Tells whether a task, as a kernel shows it, waits so. */
export function waitsForRules({ reason }: Readonly<Record<string, Json>>): boolean {
  return typeof reason === "string" && reason.startsWith(OTHER_RULES);
}

/** Those of a kernel. */
export async function tasksOfOtherRules(
  link: { ask(op: string, body: Json): Promise<Json> },
): Promise<readonly TaskId[]> {
  return rowsOf(await link.ask("tasks", { statuses: [...UNFINISHED] })).map(recordOf).filter(
    waitsForRules,
  )
    .map(({ id }) => AgentTask.shape.id.parse(id));
}
