/** A client that follows a task and remembers everything that the kernel told it. */
import { z } from "zod";
import { type Json, QuestionId, type TaskId } from "../../contracts/mod.ts";
import type { KernelLink } from "../../cli/hands.ts";

const Event = z.object({
  kind: z.literal("event"),
  n: z.int(),
  at: z.number(),
  event: z.string(),
  body: z.record(z.string(), z.json()),
  private: z.record(z.string(), z.json()).optional(),
});
/** One event, as a client was told of it: it is durable. */
export type Told = z.infer<typeof Event>;

const End = z.object({ status: z.string(), exit: z.number().nullable() });
/** A task is over, or waits for a person. */
export type End = z.infer<typeof End>;

/** A task that is followed. */
export interface Following {
  readonly task: TaskId;
  /** Everything told so far, in order. */
  readonly told: readonly Told[];
  /** The first end. Rejects when the kernel ended before. */
  readonly end: Promise<End>;
  /** The first event, told or to come, that fits. Rejects when the kernel ended before. */
  first(fits: (event: Told) => boolean): Promise<Told>;
  close(): void;
}

/** Follows a task on a link of its own. */
export async function followTask(
  link: KernelLink,
  task: TaskId,
  parts: { readonly from: number; readonly onQuestion: ((id: QuestionId) => Promise<void>) | undefined },
): Promise<Following> {
  const told: Told[] = [];
  const waiting = new Set<{ take(event: Told): void; fail(why: Error): void }>();
  const end = Promise.withResolvers<End>();
  // A test that waits for something else does not look at it.
  end.promise.catch(() => undefined);
  let gone: Error | undefined;
  const fail = (why: Error): void => {
    gone ??= why;
    end.reject(why);
    for (const each of waiting) each.fail(why);
  };
  link.onTell((op: string, body: Json) => {
    if (op === "end") return end.resolve(End.parse(body));
    const event = Event.safeParse(body);
    if (!event.success) return;
    told.push(event.data);
    for (const each of [...waiting]) each.take(event.data);
    if (event.data.event !== "questionAsked") return;
    const id = QuestionId.parse(event.data.body["question"]);
    // A kernel that dies under an answer is told of by `closed`.
    parts.onQuestion?.(id).catch((error: unknown) => {
      if (gone === undefined) fail(new Error(`Cannot answer ${id}`, { cause: error }));
    });
  });
  void link.closed.then((why) => fail(new Error(`Cannot follow ${task}: ${why.message}`)));
  await link.ask("watch", { task, from: parts.from });
  return {
    task,
    told,
    end: end.promise,
    first: (fits) =>
      new Promise((resolve, reject) => {
        const before = told.find(fits);
        if (before !== undefined) return resolve(before);
        if (gone !== undefined) return reject(gone);
        const entry = {
          take(event: Told): void {
            if (!fits(event)) return;
            waiting.delete(entry);
            resolve(event);
          },
          fail: reject,
        };
        waiting.add(entry);
      }),
    close: () => link.close(),
  };
}
