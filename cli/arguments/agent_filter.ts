/** Tasks by their agent and its labels: `--agent`, `--labels`. Seed 004 section 4.4. @module */
import { Fault, type Json } from "../../contracts/mod.ts";
import { recordOf, rowsOf } from "../command.ts";
import type { KernelLink } from "../hands.ts";
import { flag, type Parsed } from "./parse_arguments.ts";

/** Tells whether a task, as the kernel gives it, is one that was asked for. */
export type TaskFilter = (task: Readonly<Record<string, Json>>) => boolean;

/** The filter that the flags make; undefined without them. Throws `invalidInput`. */
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

/** The same for what only names its task: a process, a call. Asks the kernel for its tasks where there are flags. */
export async function ofAgent(
  link: Pick<KernelLink, "ask">,
  parsed: Parsed,
): Promise<(task: Json | undefined) => boolean> {
  const fits = agentFilter(parsed);
  if (fits === undefined) return () => true;
  const tasks = rowsOf(await link.ask("tasks", { archived: true })).filter(fits);
  const ids = new Set(tasks.map(({ id }) => id));
  return (task) => ids.has(task ?? null);
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
