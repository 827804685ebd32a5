/**
 * One task for each firing of a webhook or a schedule, however often the firing is repeated: its sender may crash between
 * the request and the answer, and simply repeat it. The tasks themselves are the record of firings. Used by operator.ts.
 * @module
 */
import { allTasks, type HostedAgentService } from "../../contracts/task/hosting.ts";
import type { TaskId } from "../../contracts/authority/ids.ts";
import type { TaskRequest } from "../../contracts/task/task.ts";

/** The answer to `run`. `already`: an earlier request made this firing's task. */
interface Ran {
  readonly task: TaskId;
  readonly already?: true;
}

type Asked = Pick<TaskRequest, "ingress" | "session">;

const keyOf = ({ ingress, session }: Asked): string => `${ingress.principal}\n${session}`;

const fires = ({ ingress }: Pick<Asked, "ingress">): boolean =>
  ingress.channel === "webhook" || ingress.channel === "schedule";

/** Makes `run`: a webhook's or schedule's request with the session of an earlier one returns that one's task. */
export function makeOnce(
  service: Pick<HostedAgentService, "create" | "list">,
): (request: TaskRequest) => Promise<Ran> {
  let learning: Promise<Map<string, Promise<TaskId>>> | undefined;
  const learn = async (): Promise<Map<string, Promise<TaskId>>> => {
    const known = new Map<string, Promise<TaskId>>();
    for await (const task of allTasks(service.list)) {
      if (fires(task)) known.set(keyOf(task), Promise.resolve(task.id));
    }
    return known;
  };
  return async (request) => {
    if (!fires(request)) return { task: (await service.create(request)).id };
    const known = await (learning ??= learn().catch((error: unknown) => {
      learning = undefined;
      throw error;
    }));
    const key = keyOf(request);
    const before = known.get(key);
    if (before !== undefined) return { task: await before, already: true };
    // INVARIANT: no await between the lookup and this, so that concurrent requests share one task.
    const made = service.create(request).then(({ id }) => id);
    known.set(key, made);
    try {
      return { task: await made };
    } catch (error) {
      known.delete(key);
      throw error;
    }
  };
}
