/** What tests of authority look at: questions as they come, and a folder that must not have changed. */
import type { Question } from "../../contracts/authority/mod.ts";
import type { Seen, Siege, Watched } from "../fake/siege.ts";

/** The nth question of a task, from 1, as a person sees it. */
export async function asked(siege: Siege, task: Watched, nth = 1): Promise<Question> {
  const ids: string[] = [];
  const { body } = await task.first(({ event, body }: Seen) => {
    if (event !== "questionAsked") return false;
    const id = String(body["question"]);
    if (!ids.includes(id)) ids.push(id);
    return ids.indexOf(id) === nth - 1;
  });
  return await siege.question(String(body["question"]));
}

/** Source of a worker's helper: `call(id, tool, args)` against the tools of now. */
export const CALL =
  `const call = async (id, name, args) => ports.call((await ports.advertise()).id, { id, name, arguments: JSON.stringify(args) });`;

/** The plan as every desk begins with it. */
export const PLAN = "call the supplier\n";

/** Reads the plan in the person's folder. */
export const plan = (siege: Siege): Promise<string> =>
  Deno.readTextFile(`${siege.desk}/notes/plan.md`);

/** Turns that stage a change of the plan and ask for it. */
export const CHANGE = `
  - calls: [{ tool: file_edit, args: { path: desk/notes/plan.md, old: call, new: ignore } }]
  - calls: [{ tool: patch_apply }]
  - say: "{{ tool.patch_apply }}"`;
