/** A person who allows everything. */
import type { Siege, Watched } from "./siege.ts";

/** Answers every question of a task with yes, like carol when she reads nothing. */
export function yesToAll(siege: Siege, task: Watched): void {
  const seen = new Set<string>();
  const next = async (): Promise<void> => {
    const { body } = await task.first(({ event, body }) =>
      event === "questionAsked" && !seen.has(String(body["question"]))
    );
    seen.add(String(body["question"]));
    await siege.answer(String(body["question"]), "allow").catch(() => undefined);
    await next();
  };
  void next().catch(() => undefined);
}
