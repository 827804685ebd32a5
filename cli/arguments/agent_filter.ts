/** Filters tasks by their agent and its labels: `--agent`, `--labels`. @module */
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { recordOf, rowsOf } from "../command.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { flag, type Parsed } from "./parse_arguments.ts";

/** Whether a task, as the kernel describes it, is selected. */
export type TaskFilter = (task: Readonly<Record<string, Json>>) => boolean;

/** The filter of the flags; undefined without them. Throws `invalidInput`. */
export function agentFilter(parsed: Parsed): TaskFilter | undefined {
  const agent = flag(parsed, "agent");
  const labels = (parsed.flags.get("labels") ?? []).flatMap(parseLabels);
  if (agent === undefined && labels.length === 0) return undefined;
  return (task) => {
    const own = recordOf(task["labels"]);
    return (agent === undefined || task["agent"] === agent) &&
      labels.every(([name, value]) => Object.hasOwn(own, name) && own[name] === value);
  };
}

/** The filter for task ids, as processes and calls have them. Asks the kernel for its tasks only where there are flags. */
export async function ofAgent(
  link: Pick<KernelLink, "ask">,
  parsed: Parsed,
): Promise<(task: Json | undefined) => boolean> {
  const fits = agentFilter(parsed);
  if (fits === undefined) return () => true;
  const ids = new Set<Json>();
  for await (const task of newestTasks(link, { archived: true })) {
    if (fits(task) && task["id"] !== undefined) ids.add(task["id"]);
  }
  return (task) => ids.has(task ?? null);
}

/** Tasks in one answer. */
const PAGE = 200;

/** Tasks, the newest first, page by page, so that a caller can stop early. */
export async function* newestTasks(
  link: Pick<KernelLink, "ask">,
  query: { readonly [name: string]: Json },
): AsyncGenerator<Readonly<Record<string, Json>>> {
  for (let before: Json | undefined = query["before"];;) {
    const place = before === undefined ? {} : { before };
    const page = rowsOf(await link.ask("tasks", { ...query, ...place, limit: PAGE }));
    yield* page.toReversed();
    before = page[0]?.["id"];
    if (page.length < PAGE || before === undefined) return;
  }
}

function parseLabels(text: string): [name: string, value: string][] {
  return text.split(",").map((each) => {
    const at = each.indexOf("=");
    if (at > 0) return [each.slice(0, at), each.slice(at + 1)];
    throw new Fault(
      "invalidInput",
      `Cannot read --labels ${JSON.stringify(text)}: write NAME=VALUE, more with commas`,
    );
  });
}
