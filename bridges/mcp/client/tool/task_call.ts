/** A tool that runs as a task of its server: asked for, polled to its end, and cancelled with its call. @module */
import { Fault } from "../../../../contracts/fault.ts";
import { isObject, type JsonObject } from "../../../../contracts/json.ts";
import type { Clock } from "../clock.ts";
import type { Ask, Behalf } from "../requests.ts";

/** What running takes. */
export interface TaskCallParts {
  readonly ask: Ask;
  readonly clock: Pick<Clock, "after">;
}

/** Milliseconds between two looks. */
const POLL = { least: 50, usual: 500, most: 5_000 } as const;

/** Runs `tools/call` as a task and resolves with the result of the tool. */
export async function callAsTask(
  { ask, clock }: TaskCallParts,
  params: JsonObject,
  behalf: Behalf & { readonly deadlineMs: number },
): Promise<JsonObject> {
  const { verb, signal, deadlineMs } = behalf;
  const created = await ask("tools/call", { ...params, task: { ttl: deadlineMs } }, behalf);
  let task = created["task"];
  // Some servers answer at once all the same.
  if (task === undefined && created["content"] !== undefined) return created;
  const taskId = isObject(task) ? task["taskId"] : undefined;
  if (typeof taskId !== "string" || taskId.length > 1_024) {
    throw new Fault("upstream", `Cannot ${verb}: the server made no proper task`);
  }
  const quiet: Behalf = { verb, signal };
  const cancel = (): void => {
    const over: Behalf = { verb, signal: new AbortController().signal };
    ask("tasks/cancel", { taskId }, over).catch(() => {});
  };
  signal.addEventListener("abort", cancel, { once: true });
  try {
    while (isObject(task) && task["status"] === "working") {
      const wished = task["pollInterval"];
      const interval = typeof wished === "number" ? wished : POLL.usual;
      await pause(clock, Math.min(POLL.most, Math.max(POLL.least, interval)), signal);
      task = await ask("tasks/get", { taskId }, quiet);
    }
    // While it waits for input this request stays open, and brings what the server asks.
    return await ask("tasks/result", { taskId }, behalf);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function pause(clock: Pick<Clock, "after">, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const forget = clock.after(ms, resolve);
    signal.addEventListener("abort", () => {
      forget();
      reject(signal.reason);
    }, { once: true });
  });
}
