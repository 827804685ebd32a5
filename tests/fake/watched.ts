/** A task of a besieged kernel, watched: its events as they come, and its end. */
import type { TaskId } from "../../contracts/authority/mod.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";

const FINAL: readonly string[] = ["done", "failed", "cancelled", "expired"];

/** One event of a task. */
export interface Seen {
  readonly n: number;
  readonly event: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly private: Readonly<Record<string, unknown>>;
}

/** How a task ended, or that it waits. */
export interface End {
  readonly status: string;
  readonly exit: number | null;
}

/** A task that is watched over a connection of its own. */
export interface Watched {
  readonly id: TaskId;
  readonly events: readonly Seen[];
  /** The next end: final, or waiting for a person. */
  readonly end: Promise<End>;
  /** The first event, past or future, that fits. Rejects when the task ends without one. */
  first(fits: (event: Seen) => boolean): Promise<Seen>;
  /** The task in the kernel's answer: `answer`, `reason`, `status`, `exit`. */
  task(): Promise<Readonly<Record<string, unknown>>>;
  close(): void;
}

/** Watches a task over a connection of its own, from its first event. */
export async function watchTask(link: KernelLink, id: TaskId): Promise<Watched> {
  const events: Seen[] = [];
  const ended = Promise.withResolvers<End>();
  let waiting: {
    fits: (event: Seen) => boolean;
    take: (event: Seen) => void;
    fail: (why: Error) => void;
  }[] = [];
  const fail = (why: string): void => {
    for (const each of waiting.splice(0)) each.fail(new Error(why));
  };
  let over: string | undefined;
  link.onTell((op, body) => {
    if (op === "end") {
      const end = body as unknown as End;
      ended.resolve(end);
      if (FINAL.includes(end.status)) fail(over = `the task ended as "${end.status}" without it`);
      return;
    }
    const seen = body as unknown as Seen & { readonly kind: string };
    if (seen.kind !== "event") return;
    events.push({ ...seen, private: seen.private ?? {} });
    waiting = waiting.filter(({ fits, take }) => {
      if (!fits(seen)) return true;
      take(seen);
      return false;
    });
  });
  await link.ask("watch", { task: id, from: 0 });
  return {
    id,
    events,
    end: ended.promise,
    first: (fits) =>
      new Promise((resolve, reject) => {
        const found = events.find(fits);
        if (found !== undefined) resolve(found);
        else if (over !== undefined) reject(new Error(over));
        else waiting.push({ fits, take: resolve, fail: reject });
      }),
    task: async () => await link.ask("task", { task: id }) as Record<string, unknown>,
    close: () => link.close(),
  };
}
