/** How often a person is asked by everyday tasks with servers that say nothing of their tools. @module */
import { runOffices } from "../tests/fake/mcp_office.ts";
import type { Row } from "./row.ts";

const TASKS = 97;
const MAX = 100;

/** Rows for `deno task bench`: against a question for each call, which is what a grant to write was before. */
export async function mcpQuestionsBench(): Promise<Row[]> {
  let asked = 0, calls = 0, failed = 0;
  await runOffices(TASKS, (run) => {
    asked += run.asked.length;
    calls += run.task.calls.length;
    failed += run.outcomes.filter((outcome) => outcome !== "ok").length;
  });
  return [
    {
      ...{ name: `imported servers, questions of ${TASKS} tasks, against one for each call` },
      ...{ value: asked, unit: "", baseline: calls, ratio: asked / calls },
      ...{ target: `≤ ${MAX}`, ok: asked <= MAX && failed === 0 },
    },
    {
      ...{ name: "the same, calls that failed", value: failed, unit: "", baseline: 0, ratio: 0 },
      ...{ target: "≤ 0", ok: failed === 0 },
    },
  ];
}
