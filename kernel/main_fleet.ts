/** A kernel's part in a fleet, wired: what is fenced, taken over, begun and said across kernels. @module */
import * as z from "zod";
import { Fault } from "../contracts/base/fault.ts";
import { isObject, type Json, toJson } from "../contracts/base/json.ts";
import { TaskId } from "../contracts/authority/ids.ts";
import { Answer, Question } from "../contracts/authority/question.ts";
import type { GrantedCall } from "../contracts/task/power.ts";
import type { NewEvent } from "../contracts/task/event.ts";
import type { Powers } from "../contracts/task/process.ts";
import type { AdoptingLog, EventLog } from "../contracts/task/store.ts";
import { digestOf } from "../port/digest.ts";
import { AgentTask, TaskRequest } from "../contracts/task/task.ts";
import type { StoreChoice } from "../contracts/wire/mod.ts";
import type { AgentService, TaskKeeper } from "../agents/mod.ts";
import { verifyLog } from "../broker/audit/mod.ts";
import type { QuestionBook } from "../broker/questions.ts";
import type { RemoteStore } from "../store/postgres/mod.ts";
import type { FleetBody } from "./control/fleet_ops.ts";
import type { FleetViews as OperatorViews } from "./control/operator.ts";
import { type FleetMember, makeFleetMember } from "./core/fleet/member.ts";
import { type FleetViews as CoreViews, makeFleetViews } from "./core/fleet/views.ts";
import type { ModelRates } from "./power/model/rates.ts";
import { makeSharedSums, sharingRates } from "./power/model/reservations.ts";
import type { SharedParts } from "./power/model/standing_budgets.ts";

/** Tasks that a kernel has at work before it takes no more of what waits for anybody. */
const MAX_AT_WORK = 32;
/** Events that say what was done: after the task was lost they come too late. */
const DONE: ReadonlySet<string> = new Set(["outcome"]);

/** Milliseconds that another kernel's words are waited for: about a task, and about how it does. */
const REPLY_MS = 15_000, PS_MS = 5_000;

/** What kernels say to each other. */
const Words = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("answer"), answer: Answer }).strict(),
  z.object({
    kind: z.literal("staged"),
    id: z.string().max(64),
    task: TaskId,
    from: z.string().max(64),
  }).strict(),
  z.object({
    kind: z.literal("cancel"),
    id: z.string().max(64),
    task: TaskId,
    from: z.string().max(64),
  }).strict(),
  z.object({ kind: z.literal("ps"), id: z.string().max(64), from: z.string().max(64) }).strict(),
  z.object({ kind: z.literal("reply"), id: z.string().max(64), value: z.json() }).strict(),
]);

/** What is there before anything runs. */
export interface FleetParts {
  readonly store: RemoteStore;
  readonly log: AdoptingLog;
  readonly choice: StoreChoice;
  readonly powers: Powers;
  readonly receiptKey: string;
  readonly version: string;
  steady(): number;
  note(line: string): void;
  end(why: string): void;
}

/** What comes later. */
export interface FleetWork {
  readonly keeper: Pick<TaskKeeper, "live">;
  readonly service: Pick<
    AgentService,
    "adopt" | "lose" | "create" | "cancel" | "idle" | "staged" | "find"
  >;
  readonly questions: Pick<QuestionBook, "adopt" | "lose">;
  /** Takes an answer as if it were given here. */
  answer(answer: Answer): Promise<unknown>;
  /** This kernel's processes. */
  ps(): unknown;
  /** Learns what a task's chain knows of contents. */
  contents(task: TaskId): Promise<void>;
}

/** The fleet, as the rest of a kernel sees it. */
export interface MainFleet {
  /** The log, whose refusals for lost tasks are heard. */
  readonly log: EventLog;
  cover(call: GrantedCall): Promise<void>;
  check(call: GrantedCall): void;
  join(work: FleetWork): FleetMember;
  wake(channel: string): void;
  leave(): Promise<void>;
  /** What a person asks of the fleet. */
  ask(body: FleetBody): Promise<Json>;
  /** What a gateway shows. */
  readonly views: OperatorViews;
  /** Payments of all kernels since a time. */
  spent: CoreViews["spent"];
  /** Budgets and rates that all kernels share. */
  readonly shared: SharedParts;
  rates(own: ModelRates): ModelRates;
  /** A task, whichever kernel has it; undefined where there is none. */
  task(id: TaskId): Promise<AgentTask | undefined>;
  /** What a task of another kernel has staged: its own kernel shows it while it waits for a person. */
  staged(task: TaskId): Promise<Json>;
  /**
   * Cancels a swarm's task that another kernel has, or takes one out of the queue; undefined: no kernel had begun it.
   * Throws `refused` for other tasks of other kernels, `notFound`, `timedOut` where its kernel is silent.
   */
  cancel(task: TaskId): Promise<AgentTask | undefined>;
  /** Questions of other kernels that are open. */
  questions(): Promise<readonly Question[]>;
  /** Carries an answer to the kernel whose question it is; the question as it was. */
  carry(answer: Answer): Promise<Question>;
}

const CANCELLED = "cancelled by its swarm";

/** The scheduler of a swarm may reach its tasks at whichever kernel has them. docs/swarm.md. */
function isOfSwarm(task: AgentTask | undefined): task is AgentTask {
  return task?.ingress.channel === "schedule" && task.ingress.principal.startsWith("swarm:");
}

/** The one task of a firing: named for it, so that it is one over all kernels, however often it is asked for. */
function firing({ ingress, session }: TaskRequest): TaskId | undefined {
  if (ingress.channel !== "schedule" && ingress.channel !== "webhook") return undefined;
  return TaskId.parse(`t${digestOf([ingress.channel, ingress.principal, session]).slice(0, 12)}`);
}

function onlyConflict(error: unknown): null {
  if (error instanceof Fault && error.code === "conflict") return null;
  throw error;
}

/** Makes it. */
export function makeMainFleet(parts: FleetParts): MainFleet {
  const { store, powers, choice, note } = parts;
  let work: FleetWork | undefined;
  const need = (): FleetWork => {
    if (work === undefined) throw new TypeError("Cannot use the fleet: nothing is at work yet");
    return work;
  };
  const member = makeFleetMember({
    ...{ store, log: parts.log, powers, note, end: parts.end },
    ...{ leaseMs: choice.leaseMs, steady: parts.steady },
    about: () => ({
      address: "",
      version: parts.version,
      publicKey: parts.receiptKey,
      mounts: [choice.machine],
    }),
    tasks: () => need().keeper.live().map(({ id }) => id),
    room: () => MAX_AT_WORK - need().keeper.live().filter(({ status }) => status === "open").length,
    async adopt(task): Promise<void> {
      await need().contents(task);
      await need().questions.adopt(task);
      await need().service.adopt(task);
    },
    async begin(task, request): Promise<void> {
      await need().service.create(TaskRequest.parse(request), { id: task });
    },
    lose,
    hear: (words) =>
      hear(words).catch((error: unknown) =>
        note(`Cannot take what another kernel carried here: ${String(error)}`)
      ),
    idle: () => need().service.idle(),
  });

  async function lose(task: TaskId): Promise<void> {
    need().questions.lose(task);
    await need().service.lose(task);
  }

  const reply = async (
    { id, from }: { readonly id: string; readonly from: string },
    value: Json,
  ): Promise<void> => {
    const words = JSON.stringify({ kind: "reply", id, value });
    await store.fleet({ kind: "reply", name: from, words });
  };
  /** Says something to another kernel, and waits for what it says to it. */
  const ask = async (
    words:
      | { readonly kind: "staged" | "cancel"; readonly task: TaskId }
      | { readonly kind: "ps" },
    { send, ms, what }: {
      send(words: string): Promise<unknown>;
      readonly ms: number;
      /** Completes "Cannot …". */
      readonly what: string;
    },
  ): Promise<Json> => {
    const id = powers.id("w");
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    waiting.set(id, resolve);
    const cancel = powers.after(
      ms,
      () => reject(new Fault("timedOut", `Cannot ${what}: its kernel is silent`)),
    );
    try {
      // First: what was asked may be answered, or given up, before it was sent.
      const [, value] = await Promise.all([
        send(JSON.stringify({ ...words, id, from: choice.kernel })),
        promise,
      ]);
      return value;
    } finally {
      cancel();
      waiting.delete(id);
    }
  };

  const waiting = new Map<string, (value: Json) => void>();
  /** TRUST: from whoever has a kernel's role: an answer is signed, and only what a person is asked about is shown. */
  async function hear(text: string): Promise<void> {
    const words = Words.parse(JSON.parse(text));
    switch (words.kind) {
      case "answer":
        await need().answer(words.answer);
        return;
      case "staged": {
        const task = need().service.find(words.task);
        // What a swarm's worker left is collected when it is over, by whichever kernel its scheduler asks.
        const shown = task?.status === "needsApproval" ||
          (isOfSwarm(task) && task.status === "done");
        const value = shown ? toJson(await need().service.staged(words.task)) : null;
        return await reply(words, value);
      }
      case "cancel":
        // Only what a scheduler started: a stolen role stops no person's task.
        if (isOfSwarm(need().service.find(words.task))) {
          // A task that ended by itself meanwhile is over, too.
          await need().service.cancel(words.task, CANCELLED).catch(onlyConflict);
        }
        return await reply(words, true);
      case "ps":
        return await reply(words, toJson(need().ps() as Json));
      case "reply":
        waiting.get(words.id)?.(words.value);
        return;
    }
  }

  /** What was done all the same is told, and the task let go of. */
  const fenced = async (task: string, events: readonly NewEvent[]): Promise<void> => {
    for (const { kind, body } of events) {
      if (!DONE.has(kind)) continue;
      note(`Task ${task} is another kernel's: what this one did for it came too late`);
      await store.fleet({ kind: "late", task, what: kind, body: JSON.stringify(body) });
    }
    const id = TaskId.safeParse(task);
    if (id.success && work !== undefined) await lose(id.data);
  };
  const hearing =
    (append: EventLog["append"]): EventLog["append"] => async (task, events, documents, at) => {
      try {
        return await append(task, events, documents, at);
      } catch (error) {
        if (error instanceof Fault && error.code === "leaseRevoked") {
          // Later: whoever appended is told first.
          powers.after(
            0,
            () =>
              void fenced(task, events).catch((why: unknown) =>
                note(`Cannot let go of task ${task}: ${String(why)}`)
              ),
          );
        }
        throw error;
      }
    };

  const views = makeFleetViews({
    store,
    now: powers.now,
    check: (log, publicKey, head) =>
      verifyLog({
        store: { ...store, ...log, blob: () => Promise.resolve(undefined) },
        ...(head === undefined ? {} : { head }),
        publicKey,
      }),
  });
  const { questions } = views;
  const ps = async (): Promise<readonly Json[]> => {
    const others = (await views.kernels()).filter(({ name, alive }) =>
      alive && name !== choice.kernel
    );
    const named = (kernel: string, rows: Json): readonly Json[] =>
      Array.isArray(rows) ? rows.map((row) => isObject(row) ? { kernel, ...row } : row) : [];
    const all = await Promise.all(others.map(async ({ name }) => {
      const send = (words: string) => store.fleet({ kind: "reply", name, words });
      const what = `show the processes of kernel "${name}"`;
      try {
        return named(name, await ask({ kind: "ps" }, { send, ms: PS_MS, what }));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        return [{ kernel: name, state: "silent" }];
      }
    }));
    return [...named(choice.kernel, toJson(need().ps() as Json)), ...all.flat()];
  };

  return Object.freeze<MainFleet>({
    log: Object.freeze<EventLog>({
      head: parts.log.head,
      append: hearing(parts.log.append),
      ...(parts.log.appendWithNext === undefined
        ? {}
        : { appendWithNext: hearing(parts.log.appendWithNext) }),
    }),
    cover: member.lease.cover,
    check: member.lease.check,
    join(given): FleetMember {
      work = given;
      member.start();
      return member;
    },
    wake: (channel) => work === undefined ? undefined : member.wake(channel),
    leave: member.leave,
    async ask(body): Promise<Json> {
      switch (body.kind) {
        case "list":
          return toJson((await views.kernels()).map(({ publicKey: _key, ...row }) => row));
        case "state":
          await store.fleet({ kind: "state", name: body.name, state: body.state });
          return null;
        case "enroll":
          return { address: await store.fleet({ kind: "enroll", name: body.name }) };
        case "tasks":
          return toJson(await views.tasks({ statuses: body.states }));
        case "questions":
          return toJson(await questions());
        case "verify":
          return await views.verify(undefined);
        case "run": {
          const { request } = body;
          const task = firing(request) ?? powers.id("t");
          // A firing that was asked for before, and a statement that was sent again, find their row there.
          await store.fleet({
            ...{ kind: "put", task, request: JSON.stringify(request) },
            mounts: request.mounts.length === 0 ? [] : [choice.machine],
          }).catch(onlyConflict);
          return { task };
        }
      }
    },
    views: Object.freeze<OperatorViews>({
      owns: (task) => Promise.resolve(need().service.find(task) !== undefined),
      ...{ ps, tasks: views.tasks, log: views.log, costs: views.costs },
      verify: async (head) => Object(await views.verify(head)),
    }),
    ...{ task: views.task, spent: views.spent },
    shared: Object.freeze<SharedParts>({
      ...makeSharedSums(store.fleet),
      ...{ id: () => powers.id("h"), after: powers.after, note },
    }),
    rates: (own) => sharingRates(own, { fleet: store.fleet, powers }),
    staged: (task) =>
      ask({ kind: "staged", task }, {
        send: (words) => store.fleet({ kind: "send", task, words }),
        ...{ ms: REPLY_MS, what: `show the changes of task ${task}` },
      }),
    async cancel(task): Promise<AgentTask | undefined> {
      if (await store.fleet({ kind: "withdraw", task }) === true) {
        note(`Task ${task} was taken out of the queue before any kernel had begun it`);
        return undefined;
      }
      const found = await views.task(task);
      if (!isOfSwarm(found)) {
        throw new Fault(
          found === undefined ? "notFound" : "refused",
          `Cannot cancel task ${task}: ${
            found === undefined
              ? "the fleet has no such task"
              : "another kernel has it; say it on that kernel's machine"
          }`,
        );
      }
      await ask({ kind: "cancel", task }, {
        send: (words) => store.fleet({ kind: "send", task, words }),
        ...{ ms: REPLY_MS, what: `cancel task ${task}` },
      });
      return await views.task(task);
    },
    questions,
    async carry(answer): Promise<Question> {
      const found = (await questions()).find(({ id }) => id === answer.question);
      if (found === undefined) {
        throw new Fault("notFound", `Cannot answer "${answer.question}": no such question`);
      }
      await store.fleet({
        kind: "send",
        task: found.task,
        words: JSON.stringify({ kind: "answer", answer }),
      });
      return found;
    },
  });
}
