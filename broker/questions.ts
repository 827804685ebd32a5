/** Questions to people: durable, answered once, with a signature. @module */
import { Fault } from "../contracts/base/fault.ts";
import { toJsonObject } from "../contracts/base/json.ts";
import { atMoment } from "../contracts/base/moment.ts";
import type { NewEvent } from "../contracts/task/event.ts";
import type { Answered, Questions } from "../contracts/authority/gate.ts";
import type { QuestionId, TaskId } from "../contracts/authority/ids.ts";
import type { Powers } from "../contracts/task/process.ts";
import { type Answer, Question } from "../contracts/authority/question.ts";
import type { DocumentRow, DocumentWrite, EventLog, Store } from "../contracts/task/store.ts";
import { type Delegations, makeAnswerCheck, makeDelegations, type Signed } from "./answer_check.ts";
import { type Grants, makeGrants } from "./grants.ts";

/** Default time that a question stays open, milliseconds: one day. */
export const QUESTION_TTL_MS = 24 * 60 * 60_000;

/** The parts of {@link openQuestions}. */
interface QuestionParts {
  readonly store: Pick<Store, "document" | "documents">;
  readonly log: EventLog;
  readonly powers: Powers;
  /** Raw Ed25519 public keys, base64url. */
  readonly personKey: string;
  readonly stepUpKey?: string | undefined;
  /** See `DelegationParts`. */
  readonly kernelKey?: string | undefined;
}

/** The questions of one kernel and the valid answers. */
export interface QuestionBook extends Questions {
  readonly grants: Grants;
  /** Keys that may answer consent questions for the person. */
  readonly delegations: Delegations;
  /** Ends the waits for a task's questions with `queued`; the questions stay open. */
  queue(task: TaskId): void;
  /** Closes open questions that no longer need an answer, and ends the waits for them. */
  lapse(which: { readonly task: TaskId } | { readonly question: QuestionId }): Promise<void>;
  /** Loads the questions of a task taken over from another kernel. */
  adopt(task: TaskId): Promise<void>;
  /** Drops the questions of a task that another kernel has taken over. */
  lose(task: TaskId): void;
  /** Erases the content of a task's questions and answers, and drops the questions. */
  erase(task: TaskId): Promise<void>;
}

interface Entry {
  question: Question;
  version: number;
  closing: boolean;
  /** Stops watching for its expiry. */
  unwatch(): void;
}

const MAX_CLOSED = 1_000;
/** States loaded from earlier kernels: questions that can be answered, or that a task may still wait for. */
const STANDING: ReadonlySet<Question["state"]> = new Set(["open", "expired"]);

/** Questions about a call, whose answers stay valid until the call is made. */
const GRANTING: ReadonlySet<Question["kind"]> = new Set(["consent", "stepUp", "recovery"]);

/**
 * Opens the questions in the store; those of earlier kernels can still be answered.
 * @throws {Fault} `storeCorrupt` for a question that does not parse; `invalidInput` for a bad key.
 */
export async function openQuestions(parts: QuestionParts): Promise<QuestionBook> {
  const { log, powers } = parts;
  const delegations = makeDelegations({ ...parts, now: powers.now });
  const check = makeAnswerCheck({ ...parts, delegations });
  const grants = makeGrants();
  const entries = new Map<QuestionId, Entry>();
  const waiters = makeWaiters();

  /** The question by the current clock, even before its expiry is recorded. */
  const now = ({ question }: Entry): Question =>
    question.state === "open" && question.expiresAt <= powers.now()
      ? { ...question, state: "expired" }
      : question;
  const isOpen = (entry: Entry): boolean => !entry.closing && now(entry).state === "open";

  function keep(entry: Entry): Entry {
    const { question } = entry;
    entries.set(question.id, entry);
    if (question.state !== "open") return entry;
    entry.unwatch = atMoment(powers, question.expiresAt, () => {
      // If the expiry cannot be stored now, the clock still applies, and the next kernel stores it.
      end(entry, "expired").catch(() => undefined);
    });
    return entry;
  }

  async function close(
    entry: Entry,
    state: Question["state"],
    answered?: { readonly answer: Answer; readonly signed: Signed },
  ): Promise<Question> {
    entry.closing = true;
    const closed: Question = { ...entry.question, state };
    try {
      const write = documentOf(closed, entry.version, answered?.answer);
      await log.append(closed.task, [answeredEvent(closed, answered)], [write]);
    } catch (error) {
      entry.closing = false;
      throw error;
    }
    entry.unwatch();
    entry.question = closed;
    entry.version++;
    prune(entries);
    return closed;
  }

  async function end(entry: Entry, state: "expired" | "lapsed"): Promise<void> {
    // An answer that is being stored takes precedence over expiry.
    if (entry.closing && state === "expired") return;
    try {
      if (entry.question.state === "open" && !entry.closing) await close(entry, state);
    } finally {
      waiters.wake(entry.question.id, { kind: state });
    }
  }

  function checked(answer: Answer): { readonly entry: Entry; readonly signed: Signed } {
    const entry = entries.get(answer.question);
    if (entry === undefined) {
      throw new Fault("notFound", `Cannot answer "${answer.question}": no such question`);
    }
    if (!isOpen(entry)) {
      const { state } = now(entry);
      const why = state === "open" ? "being answered" : state === "expired" ? "expired" : "closed";
      throw new Fault("refused", `Cannot answer "${answer.question}": the question is ${why}`);
    }
    return { entry, signed: check.check(entry.question, answer) };
  }

  async function take(answer: Answer): Promise<Question> {
    const late = entries.get(answer.question);
    // Tell the waiting process now that the question has expired, before the timer fires.
    if (late !== undefined && late.question.expiresAt <= powers.now()) await end(late, "expired");
    const { entry, signed } = checked(answer);
    powers.reach("beforeAnswer");
    const state = answer.decision === "allow" ? "allowed" : "denied";
    const closed = await close(entry, state, { answer, signed }).catch((error: unknown) => {
      if (entry.question.expiresAt <= powers.now()) {
        waiters.wake(answer.question, { kind: "expired" });
      }
      throw error;
    });
    powers.reach("afterAnswer");
    if (GRANTING.has(closed.kind)) grants.remember(closed, answer);
    waiters.wake(closed.id, { kind: "answered", answer });
    return closed;
  }

  async function ask(
    question: Question,
    options: { readonly wait: boolean; readonly signal: AbortSignal },
  ): Promise<Answered> {
    let entry = entries.get(question.id);
    if (entry === undefined) {
      await log.append(question.task, [askedEvent(question)], [documentOf(question, 0)]);
      entry = keep({ question, version: 1, closing: false, unwatch: () => undefined });
    }
    const { state } = now(entry);
    if (state === "expired") {
      await end(entry, "expired");
      return { kind: "expired" };
    }
    // Closed meanwhile: the caller judges the call again.
    if (state !== "open") return { kind: "lapsed" };
    if (!options.wait || (question.kind === "stepUp" && !check.stepUp)) return { kind: "queued" };
    const asked = entry;
    return await waiters.wait(question, {
      signal: options.signal,
      lapse: () => end(asked, "lapsed"),
    });
  }

  async function erase(task: TaskId): Promise<void> {
    // An empty append waits until pending closes are stored.
    await log.append(task, []);
    const rows = await parts.store.documents({ kind: "question", task, limit: 100_000 });
    lose(task);
    await log.append(task, [], rows.map(erased));
  }

  async function adopt(task: TaskId): Promise<void> {
    for (const entry of await load(parts.store, task)) keep(entry);
  }

  function lose(task: TaskId): void {
    for (const { question, unwatch } of [...entries.values()]) {
      if (question.task !== task) continue;
      unwatch();
      entries.delete(question.id);
      waiters.wake(question.id, { kind: "lapsed" });
    }
  }

  for (const entry of await load(parts.store)) keep(entry);
  prune(entries);

  return Object.freeze({
    ...{ grants, delegations },
    ask,
    get(id: QuestionId): Question | undefined {
      const entry = entries.get(id);
      return entry === undefined ? undefined : now(entry);
    },
    async find(id: QuestionId): Promise<Question | undefined> {
      const entry = entries.get(id);
      if (entry !== undefined) return now(entry);
      const row = await parts.store.document("question", id);
      return row === undefined ? undefined : questionIn(row);
    },
    open: (task?: TaskId) =>
      [...entries.values()].filter(isOpen).map((entry) => entry.question)
        .filter((question) => task === undefined || question.task === task),
    answer: async (answer: Answer) => await take(answer),
    queue: (task: TaskId) => {
      for (const { question } of entries.values()) {
        if (question.task === task) waiters.wake(question.id, { kind: "queued" });
      }
    },
    lapse: async (which: { readonly task: TaskId } | { readonly question: QuestionId }) => {
      const doomed = [...entries.values()].filter(({ question }) =>
        question.state === "open" &&
        ("task" in which ? question.task === which.task : question.id === which.question)
      );
      for (const entry of doomed) await end(entry, "lapsed");
    },
    ...{ erase, adopt, lose },
  });
}

async function load(store: Pick<Store, "documents">, task?: TaskId): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  // Of expired questions the newest suffice: a task waits only for a recent one.
  const standing = [
    ...await store.documents({ kind: "question", states: ["open"], task, limit: 100_000 }),
    ...(await store.documents({
      ...{ kind: "question", states: ["expired"], task, newest: true, limit: MAX_CLOSED },
    })).toReversed(),
  ];
  for (const row of standing) {
    const question = questionIn(row);
    if (question === undefined || !STANDING.has(question.state)) continue;
    entries.push({ question, version: row.version, closing: false, unwatch: () => undefined });
  }
  return entries;
}

/** Closed questions are durable; memory keeps the newest for `get`. */
function prune(entries: Map<QuestionId, Entry>): void {
  if (entries.size <= MAX_CLOSED) return;
  for (const [id, entry] of entries) {
    if (entries.size <= MAX_CLOSED) return;
    if (entry.question.state !== "open") entries.delete(id);
  }
}

/** The processes waiting for answers. */
interface Waiters {
  /** Waits until `wake` is called for the question; if `signal` aborts, the question lapses. */
  wait(question: Question, options: WaitOptions): Promise<Answered>;
  wake(question: QuestionId, answered: Answered): void;
}

/** How a wait is cancelled. */
interface WaitOptions {
  readonly signal: AbortSignal;
  /** Closes the question and wakes this wait. */
  lapse(): Promise<void>;
}

/** An empty table of waits. */
function makeWaiters(): Waiters {
  const waiting = new Map<QuestionId, Set<(answered: Answered) => void>>();

  function wake(question: QuestionId, answered: Answered): void {
    const all = waiting.get(question);
    waiting.delete(question);
    for (const resolve of all ?? []) resolve(answered);
  }

  function wait(question: Question, options: WaitOptions): Promise<Answered> {
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    const lapse = (): void => void options.lapse().catch(reject);
    const all = waiting.get(question.id) ?? new Set();
    waiting.set(question.id, all.add(resolve));
    if (options.signal.aborted) lapse();
    options.signal.addEventListener("abort", lapse, { once: true });
    return promise.finally(() => options.signal.removeEventListener("abort", lapse));
  }

  return Object.freeze({ wait, wake });
}

/** Parses a question's document; undefined if it was erased. @throws Fault `storeCorrupt` */
function questionIn(row: DocumentRow): Question | undefined {
  if (row.body["erased"] === true) return undefined;
  const parsed = Question.safeParse(row.body["question"]);
  if (parsed.success) return parsed.data;
  throw new Fault("storeCorrupt", `Cannot read question "${row.id}": ${parsed.error.message}`);
}

/** The question's document, written over `version`. */
function documentOf(question: Question, version: number, answer?: Answer): DocumentWrite {
  return {
    kind: "question",
    id: question.id,
    task: question.task,
    expect: version,
    body: {
      question: toJsonObject(question),
      ...(answer === undefined ? {} : { answer: toJsonObject(answer) }),
    },
  };
}

/** The document that replaces an erased question. */
function erased({ kind, id, task, version }: DocumentRow): DocumentWrite {
  return { kind, id, task, expect: version, body: { erased: true } };
}

/** The event of asking a question. */
function askedEvent(question: Question): NewEvent {
  const { id, pid, kind, turn, asked, expiresAt, rule } = question;
  const { tool, effect, colour, label, descriptor } = question.scope;
  return {
    kind: "questionAsked",
    body: {
      question: id,
      pid,
      kind,
      ...(question.callId === undefined ? {} : { call: question.callId }),
      turn,
      asked,
      expiresAt,
      rule,
      tool,
      effect,
      colour,
      label,
      descriptor,
    },
    private: { question: toJsonObject(question) },
  };
}

/** The event of closing a question; `answered` is undefined without an answer. */
function answeredEvent(
  question: Question,
  answered: { readonly answer: Answer; readonly signed: Signed } | undefined,
): NewEvent {
  const { id, state, kind } = question;
  if (answered === undefined) {
    return { kind: "questionAnswered", body: { question: id, state, kind } };
  }
  const { answer, signed } = answered;
  const { decision, by, channel, key, signature, shown } = answer;
  return {
    kind: "questionAnswered",
    body: { question: id, state, kind, decision, for: answer.for, by, channel, key, ...signed },
    private: {
      shown,
      signature,
      at: answer.at,
      ...(answer.say === undefined ? {} : { say: answer.say }),
    },
  };
}
