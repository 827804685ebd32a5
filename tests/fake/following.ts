/** A client that follows a task and keeps every event that the kernel sent. */
import * as z from "zod";
import { QuestionId, type TaskId } from "../../contracts/authority/mod.ts";
import type { Json } from "../../contracts/base/mod.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { within } from "./within.ts";

const Event = z.object({
  kind: z.literal("event"),
  n: z.int(),
  at: z.number(),
  event: z.string(),
  body: z.record(z.string(), z.json()),
  private: z.record(z.string(), z.json()).optional(),
});
/** One event, as sent to a client: it is durable. */
export type Told = z.infer<typeof Event>;

/**
 * The parts of an event that must be the same in every delivery: its place, kind and content. Only the log gives
 * the digest of the private part, and the time may differ by a millisecond.
 */
export function lasting({ n, event, body, private: secret }: Told): object {
  const { private: _digest, ...rest } = body;
  return { n, event, body: rest, private: secret };
}

const End = z.object({ status: z.string(), exit: z.number().nullable() });
/** A task has ended, or waits for a person. */
export type End = z.infer<typeof End>;

/** A task that is followed. */
export interface Following {
  readonly task: TaskId;
  /** Every event so far, in order. */
  readonly told: readonly Told[];
  /** Questions whose answer the kernel acknowledged. */
  readonly answered: readonly QuestionId[];
  /**
   * The first end; for a client that answers, the first that is not a wait for an answer. Rejects when
   * the kernel ended before.
   */
  readonly end: Promise<End>;
  /** The first event, past or future, that fits. Rejects when the kernel ended before. */
  first(fits: (event: Told) => boolean): Promise<Told>;
  close(): void;
}

/** Follows a task on a connection of its own. */
export async function followTask(
  link: KernelLink,
  task: TaskId,
  parts: {
    readonly from: number;
    /** Answers; tells whether the kernel acknowledged it. */
    readonly onQuestion: ((id: QuestionId) => Promise<boolean>) | undefined;
  },
): Promise<Following> {
  const told: Told[] = [];
  const answered: QuestionId[] = [];
  const waiting = new Set<{ take(event: Told): void; fail(why: Error): void }>();
  const end = Promise.withResolvers<End>();
  // A test that waits for something else ignores it.
  end.promise.catch(() => undefined);
  let gone: Error | undefined;
  const fail = (why: Error): void => {
    gone ??= why;
    end.reject(why);
    for (const each of waiting) each.fail(why);
  };
  link.onTell((op: string, body: Json) => {
    if (op === "end") {
      const ended = End.parse(body);
      // A client that answers questions waits for the effect of its answers.
      if (ended.status !== "needsApproval" || parts.onQuestion === undefined) end.resolve(ended);
      return;
    }
    const event = Event.safeParse(body);
    if (!event.success) return;
    told.push(event.data);
    for (const each of [...waiting]) each.take(event.data);
    if (event.data.event !== "questionAsked") return;
    const id = QuestionId.parse(event.data.body["question"]);
    // `closed` reports a kernel that dies during an answer.
    parts.onQuestion?.(id).then((acknowledged) => {
      if (acknowledged) answered.push(id);
    }, (error: unknown) => {
      if (gone === undefined) fail(new Error(`Cannot answer ${id}`, { cause: error }));
    });
  });
  void link.closed.then((why) => fail(new Error(`Cannot follow ${task}: ${why.message}`)));
  await link.ask("watch", { task, from: parts.from });
  return {
    ...{ task, told, answered },
    get end(): Promise<End> {
      return within(`the end of ${task}`, end.promise);
    },
    first: (fits) =>
      within(
        `an event of ${task}`,
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
      ),
    close: () => link.close(),
  };
}
