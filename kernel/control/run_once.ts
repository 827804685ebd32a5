/**
 * A firing of a webhook or a schedule makes one task, however often it is asked for: whoever fires may crash between the
 * asking and the answer, and simply asks again. The tasks themselves are the memory of it.
 * @module
 */
import { allTasks, type HostedAgentService } from "../../contracts/task/hosting.ts";
import type { TaskId } from "../../contracts/authority/ids.ts";
import type { TaskRequest } from "../../contracts/task/task.ts";

/** The answer to `run`. `already`: this firing has its task since an earlier time. */
interface Ran {
  readonly task: TaskId;
  readonly already?: true;
}

type Asked = Pick<TaskRequest, "ingress" | "session">;

const keyOf = ({ ingress, session }: Asked): string => `${ingress.principal}\n${session}`;

const fires = ({ ingress }: Pick<Asked, "ingress">): boolean =>
  ingress.channel === "webhook" || ingress.channel === "schedule";

/** Makes `run`: requests of a webhook or schedule with the session of an earlier one are that one. */
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
    // INVARIANT: no await between the look and this: two at once are one task.
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
