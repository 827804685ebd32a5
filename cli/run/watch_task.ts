/** Watches one task on a link: passes on its events, and has its questions answered. @module */
import { Question, type TaskId } from "../../contracts/authority/mod.ts";
import { Fault, toJson } from "../../contracts/base/mod.ts";
import type { Staged } from "../../contracts/task/mod.ts";
import { StagedChange } from "../../contracts/tool/mod.ts";
import * as z from "zod";
import { readSeen, type Seen, textOf } from "../audit/event_fields.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import type { Answerer } from "../question/answerer.ts";

/** Why a watch ended. */
export interface WatchEnd {
  readonly status: string;
  readonly exit: number | undefined;
  /** The turn failed while the task stays open: the reason, and the exit code of a task that ended so. */
  readonly failed?: { readonly exit: number; readonly why: string };
  /** The question that the task waits for. */
  readonly waiting?: string;
}

const StagedAnswer = z.object({
  patch: z.string().nullable(),
  changes: z.array(StagedChange),
  applied: z.array(z.object({
    patch: z.string(),
    changes: z.array(StagedChange),
    undone: z.boolean(),
  })),
  content: z.string(),
});

/** Asks for a task's staged and applied changes. */
export async function askStaged(link: KernelLink, task: string): Promise<Staged> {
  return StagedAnswer.parse(await link.ask("staged", { task }));
}

async function openQuestions(link: KernelLink, task: string): Promise<readonly string[]> {
  const asked = z.array(Question).parse(await link.ask("questions", { task }));
  return asked.filter(({ state }) => state === "open").map(({ id }) => id);
}

/** A running watch. */
export interface Watch {
  /** Resolves when the task, or one turn of an interactive one, is over. */
  next(): Promise<WatchEnd>;
  /** Discards ends of turns that other sources than this person began. */
  forget(): void;
  /** Withdraws the question shown now. */
  withdraw(): void;
}

/** Starts to watch. Without `answerer`, questions stay with the kernel. */
export async function watchTask(
  link: KernelLink,
  task: TaskId,
  parts: {
    readonly from: number;
    readonly answerer?: Answerer | undefined;
    onSeen(seen: Seen): void;
  },
): Promise<Watch> {
  let waiter = Promise.withResolvers<WatchEnd>();
  let asking: { readonly id: string; readonly abort: AbortController } | undefined;
  const done: WatchEnd[] = [];
  const finish = (end: WatchEnd): void => {
    done.push(end);
    waiter.resolve(end);
  };
  let failed: unknown;
  const fail = (error: unknown): void => {
    failed ??= error;
    // The next caller of `next` sees the error; there may be none now.
    waiter.promise.catch(() => undefined);
    waiter.reject(error);
  };

  const answer = async (id: string): Promise<void> => {
    const { answerer } = parts;
    if (answerer === undefined || asking?.id === id) return;
    const abort = new AbortController();
    asking = { id, abort };
    try {
      const question = Question.parse(await link.ask("question", { question: id }));
      if (question.state !== "open") return;
      const given = await answerer(question, await askStaged(link, task), abort.signal);
      if (abort.signal.aborted) return;
      if (given === undefined) return finish({ status: "needsApproval", exit: 75, waiting: id });
      await link.ask("answer", toJson(given)).catch((error: unknown) => {
        // The question closed while the answer was sent: the task goes on without the answer.
        if (!abort.signal.aborted) throw error;
      });
    } finally {
      if (asking?.id === id) asking = undefined;
    }
  };
  let questions: Promise<void> = Promise.resolve();

  link.onTell((op, body) => {
    if (op === "end") {
      const parsed = z.object({ status: z.string(), exit: z.number().nullish() }).safeParse(body);
      return finish({
        status: parsed.data?.status ?? "failed",
        exit: parsed.data?.exit ?? undefined,
      });
    }
    const seen = op === "event" ? readSeen(body) : undefined;
    if (seen === undefined) return;
    parts.onSeen(seen);
    if (seen.kind !== "event") return;
    const { event } = seen;
    if (event.event === "questionAsked") {
      const id = textOf(event, "question");
      questions = questions.then(() => answer(id)).catch(fail);
    }
    if (event.event === "questionAnswered" && asking?.id === textOf(event, "question")) {
      asking.abort.abort();
    }
    if (event.event !== "taskStatus" || textOf(event, "status") !== "open") return;
    const exit = event.body["failed"];
    if (typeof exit === "number") {
      const failed = { exit, why: textOf(event, "reason") };
      finish({ status: "open", exit: undefined, failed });
    } else if (event.private["answer"] !== undefined) finish({ status: "open", exit: undefined });
  });
  void link.closed.then((why) => {
    asking?.abort.abort();
    const reason = why.message.replace(/^Cannot reach the peer: /, "");
    fail(
      new Fault(
        "gone",
        `Cannot follow task ${task}: ${reason}; "remit task show ${task}" starts it again and says how it stands`,
        { cause: why },
      ),
    );
  });
  await link.ask("watch", { task, from: parts.from });
  // The watch starts behind the events of earlier questions, which may still be open.
  const before = parts.from === 0 ? [] : await openQuestions(link, task);
  for (const id of before) questions = questions.then(() => answer(id)).catch(fail);

  return Object.freeze({
    async next(): Promise<WatchEnd> {
      if (done.length === 0) {
        if (failed !== undefined) throw failed;
        await waiter.promise;
      }
      waiter = Promise.withResolvers<WatchEnd>();
      const end = done.shift();
      if (end === undefined) throw new TypeError("Cannot watch: it ended without an end");
      return end;
    },
    forget(): void {
      if (done.length === 0) return;
      done.length = 0;
      waiter = Promise.withResolvers<WatchEnd>();
    },
    withdraw: () => asking?.abort.abort(),
  });
}
