/** Open conversations as an editor's sessions: the list, one by its id, and the servers that one began with. @module */
import type { SessionInfo } from "@agentclientprotocol/sdk";
import * as z from "zod";
import { Fault } from "../../contracts/base/mod.ts";
import { AgentTask, TASK_TRANSITIONS, TaskStatus } from "../../contracts/task/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Seen } from "../audit/event_fields.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";

/** Statuses of tasks that are not over. */
const LIVE = TaskStatus.options.filter((status) => TASK_TRANSITIONS[status].length > 0);
/** Most sessions listed. */
const MAX_LISTED = 50;

/** The latest sessions, of one folder or of all. */
export async function listSessions(
  link: Pick<KernelLink, "ask">,
  cwd: string | undefined,
): Promise<readonly SessionInfo[]> {
  const tasks = z.array(AgentTask).parse(
    await link.ask("tasks", { statuses: [...LIVE], limit: MAX_LISTED }),
  );
  return tasks.filter(({ folder }) => cwd === undefined || folder === cwd).map((task) => ({
    sessionId: task.session,
    cwd: task.folder ?? "/",
    title: displayText(task.objective, { max: 100 }),
    updatedAt: new Date(task.updatedAt).toISOString(),
  }));
}

/** The task of a session, found by the id of either. Rejects `notFound`. */
export async function taskOf(link: KernelLink, id: string): Promise<AgentTask> {
  let before: string | undefined;
  for (;;) {
    const body = { statuses: [...LIVE], limit: 1_000, ...(before === undefined ? {} : { before }) };
    const tasks = z.array(AgentTask).parse(await link.ask("tasks", body));
    const found = tasks.find((task) => task.session === id || task.id === id);
    if (found !== undefined) return found;
    before = tasks.at(-1)?.id;
    if (before === undefined) {
      throw new Fault(
        "notFound",
        `Cannot take up session "${id.slice(0, 64)}": no open conversation is called so`,
      );
    }
  }
}

const Handed = z.object({
  request: z.object({ mcp: z.array(z.object({ name: z.string() })).optional() }),
});

/** Names of the servers that a task began with. */
export function serversIn(past: readonly Seen[]): readonly string[] {
  const made = past.find((seen) => seen.kind === "event" && seen.event.event === "taskCreated");
  const { data } = Handed.safeParse(made?.kind === "event" ? made.event.private : undefined);
  return data?.request.mcp?.map(({ name }) => name) ?? [];
}
