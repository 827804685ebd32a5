/** Wires a kernel's part in a fleet: fencing, takeover, queued work, and messages between kernels. @module */
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

/** Tasks at work in a kernel above which it takes no queued work. */
const MAX_AT_WORK = 32;
/** Events that report effects: for a lost task they come too late. */
const EFFECT_EVENTS: ReadonlySet<string> = new Set(["outcome"]);
/** Milliseconds to wait for another kernel: about a task, and about its processes. */
const REPLY_MS = 15_000, PS_MS = 5_000;

/** Messages between kernels. */
const KernelMessage = z.discriminatedUnion("kind", [
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

/** The parts that exist before the kernel works. */
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

/** The parts that exist once the kernel works. */
export interface FleetWork {
  readonly keeper: Pick<TaskKeeper, "live">;
  readonly service: Pick<
    AgentService,
    "adopt" | "lose" | "create" | "cancel" | "idle" | "staged" | "find"
  >;
  readonly questions: Pick<QuestionBook, "adopt" | "lose">;
  /** Takes a person's answer like one given here. */
  answer(answer: Answer): Promise<unknown>;
  /** This kernel's processes. */
  ps(): unknown;
  /** Records the contents in a task's chain. */
  contents(task: TaskId): Promise<void>;
}

/** The fleet, for the rest of a kernel. */
export interface MainFleet {
  /** The log; a refused append to a lost task drops the task. */
  readonly log: EventLog;
  cover(call: GrantedCall): Promise<void>;
  check(call: GrantedCall): void;
  join(work: FleetWork): FleetMember;
  wake(channel: string): void;
  leave(): Promise<void>;
  /** Answers the operation `fleet`. */
  ask(body: FleetBody): Promise<Json>;
  /** A gateway's views. */
  readonly views: OperatorViews;
  /** Payments of all kernels since a moment. */
  spent: CoreViews["spent"];
  /** Shared budgets of all kernels. */
  readonly shared: SharedParts;
  /** Shares rates over all kernels. */
  rates(own: ModelRates): ModelRates;
  /** A task of any kernel; undefined where the fleet has no such task. */
  task(id: TaskId): Promise<AgentTask | undefined>;
  /** Staged changes of another kernel's task, which that kernel shows while the task waits for a person. */
  staged(task: TaskId): Promise<Json>;
  /**
   * Cancels a swarm's task of another kernel, or withdraws a queued task; undefined: no kernel had started it. Throws
   * `refused` for other tasks of other kernels, `notFound`, `timedOut` where the kernel is silent.
   */
  cancel(task: TaskId): Promise<AgentTask | undefined>;
  /** Open questions of all kernels. */
  questions(): Promise<readonly Question[]>;
  /** Sends an answer to the question's kernel; resolves with the question as it was. */
  carry(answer: Answer): Promise<Question>;
}

const CANCELLED = "cancelled by its swarm";

/** Tells whether a swarm's scheduler made a task, and so may reach it at any kernel. docs/swarm.md. */
function isOfSwarm(task: AgentTask | undefined): task is AgentTask {
  return task?.ingress.channel === "schedule" && task.ingress.principal.startsWith("swarm:");
}

/** The id of a firing's task, derived from the firing, so that all kernels make one task of repeated requests. */
function firing({ ingress, session }: TaskRequest): TaskId | undefined {
  if (ingress.channel !== "schedule" && ingress.channel !== "webhook") return undefined;
  return TaskId.parse(`t${digestOf([ingress.channel, ingress.principal, session]).slice(0, 12)}`);
}

/** Ignores a `conflict`. */
function onlyConflict(error: unknown): null {
  if (error instanceof Fault && error.code === "conflict") return null;
  throw error;
}

/** Makes the kernel's part; the member starts at `join`. */
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
    hear: (message) =>
      hear(message).catch((error: unknown) =>
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
  /** Sends a request to another kernel and waits for its reply. */
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
      // The wait starts first: the reply, or the timeout, may come before the sending is done.
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
  /** Handles a message. TRUST: from any holder of a kernel's database role: answers are signed, and only changes under a person's question are shown. */
  async function hear(text: string): Promise<void> {
    const message = KernelMessage.parse(JSON.parse(text));
    switch (message.kind) {
      case "answer":
        await need().answer(message.answer);
        return;
      case "staged": {
        const task = need().service.find(message.task);
        // A finished task of a swarm is collected by whichever kernel its scheduler asks.
        const shown = task?.status === "needsApproval" ||
          (isOfSwarm(task) && task.status === "done");
        const value = shown ? toJson(await need().service.staged(message.task)) : null;
        return await reply(message, value);
      }
      case "cancel":
        // Only tasks of a scheduler: a stolen role must not stop a person's task.
        if (isOfSwarm(need().service.find(message.task))) {
          // A task may have ended by itself meanwhile.
          await need().service.cancel(message.task, CANCELLED).catch(onlyConflict);
        }
        return await reply(message, true);
      case "ps":
        return await reply(message, toJson(need().ps() as Json));
      case "reply":
        waiting.get(message.id)?.(message.value);
        return;
    }
  }

  /** Reports effects that came too late, and drops the task. */
  const fenced = async (task: string, events: readonly NewEvent[]): Promise<void> => {
    for (const { kind, body } of events) {
      if (!EFFECT_EVENTS.has(kind)) continue;
      note(`Task ${task} is another kernel's: what this one did for it came too late`);
      await store.fleet({ kind: "late", task, what: kind, body: JSON.stringify(body) });
    }
    const id = TaskId.safeParse(task);
    if (id.success && work !== undefined) await lose(id.data);
  };
  const fencing =
    (append: EventLog["append"]): EventLog["append"] => async (task, events, documents, at) => {
      try {
        return await append(task, events, documents, at);
      } catch (error) {
        if (error instanceof Fault && error.code === "leaseRevoked") {
          // Later, so that the appending code gets its error first.
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
      append: fencing(parts.log.append),
      ...(parts.log.appendWithNext === undefined
        ? {}
        : { appendWithNext: fencing(parts.log.appendWithNext) }),
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
          // A repeated firing, or a repeated statement, finds its row there.
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
