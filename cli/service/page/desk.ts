/**
 * The page's side of `remit serve`: logins, views and signed answers.
 * TRUST: the gateway may be hostile. It sees what a logged-in person sees and can answer consent in
 * their name while their session lives; stepUp, budgets and recovery it cannot answer at all,
 * because the kernel takes no such answer of the page's key.
 * @module
 */
import {
  type Answer,
  type Digest,
  Question,
  type QuestionId,
  type TaskId,
} from "../../../contracts/authority/mod.ts";
import { Fault, type Json, toJson } from "../../../contracts/base/mod.ts";
import { InboxEntry } from "../../../contracts/exchange/mod.ts";
import { AgentTask } from "../../../contracts/task/mod.ts";
import { type PageAnswer, type PageAsk, PageView } from "../../../contracts/wire/mod.ts";
import * as z from "zod";
import { displayText } from "../../../text/mod.ts";
import { shownChanges } from "../../question/asking.ts";
import { type Command, commandText } from "../../command.ts";
import type { Basic } from "../../powers.ts";
import type { KernelLink } from "../../../launch/kernel/kernels.ts";
import { openKeyRing } from "../../../config/key/ring.ts";
import { lendApproved } from "../../../bridges/mcp/registry/handover.ts";
import { readyAgain } from "../../model/ready.ts";
import { readPast } from "../../run/run_task.ts";
import { shownWhole } from "../../question/question_frame.ts";
import { signAnswer } from "../../question/sign_answer.ts";
import { askStaged } from "../../run/watch_task.ts";
import { makeSecretBook, openPageKey } from "./login.ts";
import { waitingQuestions } from "../../question/waiting.ts";
import { registryOf } from "../../mcp/work.ts";
import { homeView, messageView, questionView, taskView, UNDECIDED, UNFINISHED } from "./views.ts";

/** The powers of {@link openPageDesk}. */
export interface PageDeskParts {
  readonly command: Command<Basic | "mcpStore" | "models">;
  readonly link: KernelLink;
  now(): number;
  /** 256 random bits, base64url. */
  secret(): string;
  note(text: string): void;
  /** Prepares a task's models to go on; absent: as `remit answer` does. */
  beforeAnswer?(task: TaskId): Promise<void>;
}

/** The page's desk. Faults are as contracts/wire/wire_a2a.ts lists them. */
export interface PageDesk {
  /** A one-time code, valid for five minutes. */
  code(): string;
  open(code: string): Promise<{ readonly session: string; readonly expiresAt: number }>;
  view(ask: PageAsk): Promise<PageView>;
  /** Rejects `conflict` if the question differs from the shown one, `refused` if the page may not. */
  answer(said: PageAnswer): Promise<void>;
  /** Logs out. */
  leave(session: string): void;
  /** Ends the key's delegation. */
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;
/** The newest tasks that the page lists. */
const MAX_TASKS = 100;
const Tasks = z.array(z.json());
const Entries = z.array(InboxEntry);

/** Opens the desk with a new key, delegated in the kernel. */
export async function openPageDesk(parts: PageDeskParts): Promise<PageDesk> {
  const { command, link, now, note } = parts;
  const { disk } = command.powers;
  const codes = makeSecretBook(parts, { lifeMs: 5 * MINUTE_MS, max: 8 });
  const sessions = makeSecretBook(parts, {
    ...{ lifeMs: 12 * 60 * MINUTE_MS, idleMs: 60 * MINUTE_MS, max: 32 },
  });
  const need = (session: string): void => {
    if (sessions.use(session)) return;
    throw new Fault("denied", "Cannot show the page: there is no such session");
  };
  const key = await openPageKey({ link, now, ring: openKeyRing(disk, command.places) });
  const ready = parts.beforeAnswer ??
    (async (task: TaskId): Promise<void> => {
      await readyAgain(command, link, await readPast(link, task));
      await lendApproved(registryOf(command), link);
    });

  const ask = async (op: string, body: Json): Promise<Json> => await link.ask(op, body);
  /** Tasks of all kernels, if this one is part of a fleet. */
  const tasksOf = (body: Json): Promise<Json> =>
    ask("view", { op: "tasks", body, by: "page", profile: "guest" });
  const openOnes = async (task?: TaskId): Promise<readonly Question[]> =>
    await waitingQuestions(ask, task);

  /** The present view of a question. */
  const questionOf = async (
    id: QuestionId,
  ): Promise<{
    readonly question: Question;
    readonly view: PageView;
    readonly sanitizes: Digest[];
  }> => {
    const question = Question.parse(await ask("question", { question: id }));
    const changes = question.changes.length === 0
      ? []
      : shownChanges(question, await askStaged(link, question.task), disk);
    const answer = commandText(command, `answer ${id} allow`);
    const view = questionView(question, { changes, now: now(), command: answer });
    return { question, view, sanitizes: shownWhole(changes, true) };
  };

  const viewOf = async (view: PageAsk["view"]): Promise<PageView> => {
    switch (view.kind) {
      case "home": {
        const [tasks, unfinished, questions, ...held] = await Promise.all([
          tasksOf({ limit: MAX_TASKS }),
          tasksOf({ statuses: [...UNFINISHED] }),
          openOnes(),
          ...UNDECIDED.map((state) => ask("inbox", { state })),
        ]);
        const messages = held.flatMap((each) => Entries.parse(each));
        return homeView({
          ...{ tasks: Tasks.parse(tasks), unfinished: Tasks.parse(unfinished) },
          ...{ questions, messages, now: now() },
        });
      }
      case "task": {
        const task = AgentTask.parse(await ask("task", { task: view.task }));
        const [questions, { changes }] = await Promise.all([
          openOnes(view.task),
          askStaged(link, view.task),
        ]);
        return taskView({ task, questions, staged: changes, now: now() });
      }
      case "question":
        return (await questionOf(view.question)).view;
      case "message": {
        const entry = InboxEntry.parse(await ask("inboxShow", { id: view.message }));
        return messageView(entry, { now: now(), command: (words) => commandText(command, words) });
      }
    }
  };

  const answer = async (
    { question: id, shown, decision, say }: Omit<PageAnswer, "session">,
  ): Promise<void> => {
    const { question, view, sanitizes } = await questionOf(id);
    if (view.elsewhere !== undefined) {
      throw new Fault("refused", `Cannot answer question ${id} here: ${view.elsewhere}`);
    }
    if (view.answer?.shown !== shown) {
      throw new Fault("conflict", `Cannot answer question ${id}: it is not what was shown`);
    }
    const signer = await key.ready();
    await ready(question.task);
    const by = { by: "page", channel: "page" } as const;
    const verdict = { decision, for: "once", say, sanitizes, ...by } as const;
    const signed: Answer = signAnswer(question, verdict, { signer, at: now() });
    await ask("answer", toJson(signed));
  };

  return Object.freeze<PageDesk>({
    code: () => codes.make().secret,
    async open(code) {
      await Promise.resolve();
      if (!codes.drop(code)) throw new Fault("denied", "Cannot log in: the code is not good");
      const { secret: session, expiresAt } = sessions.make();
      note("somebody logged in at the page");
      return { session, expiresAt };
    },
    async view({ session, view }) {
      need(session);
      return PageView.parse(await safely(viewOf(view)));
    },
    async answer({ session, ...said }) {
      need(session);
      await safely(answer(said));
    },
    leave: (session) => void sessions.drop(session),
    close: () => key.close(),
  });
}

/** Makes a fault's message safe to show: names in it may be hostile. */
async function safely<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Fault(error.code, displayText(error.message, { max: 500 }), { cause: error });
  }
}
