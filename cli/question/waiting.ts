/** Lists the questions that wait for a person, and the expired ones that still hold up a task. @module */
import { Question, QuestionId, TaskId } from "../../contracts/authority/mod.ts";
import type { Json } from "../../contracts/base/mod.ts";
import { recordOf, rowsOf } from "../command.ts";

/** Asks the kernel. */
type Ask = (op: string, body: Json) => Promise<Json>;

/** The open questions, then the expired ones that a task still waits for. */
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

/** How to ask an expired question again. */
export function expiredWords({ task }: Pick<Question, "task">): string {
  return `"remit resume ${task}" asks it again`;
}
