/** A client that follows a task and remembers everything that the kernel told it. */
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
/** One event, as a client was told of it: it is durable. */
export type Told = z.infer<typeof Event>;

/**
 * What must be the same whenever a client is told of an event: its place, kind and content. The
 * digest of the private part is only told from the log, and the time may be a millisecond off.
 */
export function lasting({ n, event, body, private: secret }: Told): object {
  const { private: _digest, ...rest } = body;
  return { n, event, body: rest, private: secret };
}

const End = z.object({ status: z.string(), exit: z.number().nullable() });
/** A task is over, or waits for a person. */
export type End = z.infer<typeof End>;

/** A task that is followed. */
export interface Following {
  readonly task: TaskId;
  /** Everything told so far, in order. */
  readonly told: readonly Told[];
  /** Questions whose answer the kernel acknowledged. */
  readonly answered: readonly QuestionId[];
  /**
   * The first end; for one who answers, the first that is not a wait for an answer. Rejects when
   * the kernel ended before.
   */
  readonly end: Promise<End>;
  /** The first event, told or to come, that fits. Rejects when the kernel ended before. */
  first(fits: (event: Told) => boolean): Promise<Told>;
  close(): void;
}

/** Follows a task on a link of its own. */
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
  // A test that waits for something else does not look at it.
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
      // Who answers questions waits for what comes of the answers.
      if (ended.status !== "needsApproval" || parts.onQuestion === undefined) end.resolve(ended);
      return;
    }
    const event = Event.safeParse(body);
    if (!event.success) return;
    told.push(event.data);
    for (const each of [...waiting]) each.take(event.data);
    if (event.data.event !== "questionAsked") return;
    const id = QuestionId.parse(event.data.body["question"]);
    // A kernel that dies under an answer is told of by `closed`.
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
