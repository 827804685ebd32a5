/** What waits for a person, and what waited until nobody could answer it any more. @module */
import { Question, QuestionId, TaskId } from "../../contracts/authority/mod.ts";
import type { Json } from "../../contracts/base/mod.ts";
import { recordOf, rowsOf } from "../command.ts";

/** Asks a kernel. */
type Ask = (op: string, body: Json) => Promise<Json>;

/** Questions that can be answered, and then those that have expired and that a task still waits for. */
export async function waitingQuestions(ask: Ask, of?: TaskId): Promise<readonly Question[]> {
  const open = Question.array().parse(await ask("questions", of === undefined ? {} : { task: of }));
  const rows = of === undefined
    ? rowsOf(await ask("tasks", { statuses: ["needsApproval"] }))
    : [recordOf(await ask("task", { task: of }))];
  const expired: Question[] = [];
  for (const { id, status, questions } of rows) {
    if (status !== "needsApproval" || open.some(({ task }) => task === id)) continue;
    const last = QuestionId.safeParse(Array.isArray(questions) ? questions.at(-1) : undefined);
    if (!last.success) continue;
    const found = Question.parse(await ask("question", { question: last.data }));
    if (found.state === "expired") expired.push(found);
  }
  return [...open, ...expired];
}

/** What to do about one that has expired. */
export function expiredWords({ task }: Pick<Question, "task">): string {
  return `"remit resume ${task}" asks it again`;
}
