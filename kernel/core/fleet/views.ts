/**
 * A person's view of all kernels, read from their shared database: one list of tasks, one log, one cost, one check of
 * every chain. Nothing is cached: a killed kernel appears as it left its tasks. docs/decision/0117. Wired in
 * kernel/main_fleet.ts.
 * @module
 */
import { defined } from "../process/defined.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { isObject, type Json, toJson } from "../../../contracts/base/json.ts";
import type { Digest, TaskId } from "../../../contracts/authority/ids.ts";
import { Question } from "../../../contracts/authority/question.ts";
import type { WatchEvent } from "../../../contracts/task/control_answers.ts";
import type { TaskQuery } from "../../../contracts/task/hosting.ts";
import type { CostRow } from "../../../contracts/task/spending.ts";
import type { Store, StoredEvent } from "../../../contracts/task/store.ts";
import { AgentTask, TaskStatus } from "../../../contracts/task/task.ts";
import type { FleetAsk, FleetKernel } from "../../../contracts/wire/wire_store.ts";
import { type Spent, spentOfTasks, sumsOf } from "../log/spending.ts";
import { pastEvents } from "../log/watch.ts";

/** The result of checking one kernel's log. */
interface Checked {
  readonly ok: boolean;
  readonly events: number;
  readonly head?: string;
  readonly bad?: unknown;
}

/** The shared store, a clock and the check of one log. */
export interface FleetViewParts {
  readonly store: {
    fleet(ask: FleetAsk): Promise<Json>;
    chain(task: string, fromN: number): Promise<readonly StoredEvent[]>;
    logOf(id: number): Pick<Store, "events" | "heads">;
    spent(
      since: number,
      after: { readonly task: string; readonly n: number },
    ): Promise<readonly StoredEvent[]>;
  };
  now(): number;
  /** Checks one kernel's log; `head`, where given, must be its end. */
  check(
    log: Pick<Store, "events" | "heads">,
    publicKey: string,
    head?: Digest,
  ): Promise<Checked>;
}

/** Queries over all kernels. */
export interface FleetViews {
  kernels(): Promise<readonly FleetKernel[]>;
  /** Tasks of all kernels, the newest within the limit, oldest first. */
  tasks(query: Omit<TaskQuery, "after" | "oldest">): Promise<readonly AgentTask[]>;
  /** A task of any kernel; undefined where the fleet has no such task. */
  task(id: TaskId): Promise<AgentTask | undefined>;
  /** Questions that are open and unexpired, oldest first. */
  questions(): Promise<readonly Question[]>;
  /** A task's events without their private parts, which only the task's kernel can open. Throws `notFound`. */
  log(task: TaskId, from: number): AsyncIterable<WatchEvent>;
  /** Payments of all kernels since a moment, milliseconds since 1970. */
  spent(since: number): AsyncIterable<Spent>;
  costs(
    span: { readonly since: number; readonly until?: number | undefined },
  ): Promise<readonly CostRow[]>;
  /** Checks every log; `head`, which a person kept, must be the end of one of them. */
  verify(head: Digest | undefined): Promise<Json>;
}

/** Tasks, questions or events of one query. */
const MAX_ROWS = 1_000;

/** Makes the views; none holds state. */
export function makeFleetViews({ store, now, check }: FleetViewParts): FleetViews {
  /** Bodies of documents, the newest first. */
  const everywhere = async (
    { limit, ...asked }: Omit<Extract<FleetAsk, { kind: "everywhere" }>, "kind"> & {
      readonly limit: number;
    },
  ): Promise<readonly Json[]> => {
    const found: Json[] = [];
    let place = asked.before;
    for (;;) {
      const before = place === undefined ? {} : { before: place };
      const page = await store.fleet({
        ...{ kind: "everywhere", ...asked, ...before, limit: limit - found.length },
      });
      const rows = rowsOf(page);
      found.push(...rows.map(({ body }): Json => parsed(body)));
      const last = rows.at(-1)?.["id"];
      // The answer was cut at the frame's size, so the rest takes another request.
      const cut = isObject(page) && page["cut"] === true;
      if (!cut || typeof last !== "string") return found;
      place = last;
    }
  };

  const kernels = async (): Promise<readonly FleetKernel[]> =>
    // TRUST: from this kernel's own store process.
    await store.fleet({ kind: "list" }) as unknown as readonly FleetKernel[];

  const task: FleetViews["task"] = async (id) => {
    const [row] = rowsOf(await store.fleet({ kind: "task", task: id }));
    return AgentTask.safeParse(parsed(row?.["body"])).data;
  };

  const chain = async (
    id: TaskId,
    fromN: number,
    limit = MAX_ROWS,
  ): Promise<readonly StoredEvent[]> => {
    const found: StoredEvent[] = [];
    while (found.length < limit) {
      const page = await store.chain(id, fromN + found.length);
      if (page.length === 0) break;
      found.push(...page);
    }
    return found;
  };

  async function* spending(since: number): AsyncGenerator<StoredEvent> {
    for (let after = { task: "", n: 0 };;) {
      const events = await store.spent(since, after);
      yield* events;
      const last = events.at(-1);
      if (last === undefined) return;
      after = { task: last.task, n: last.n };
    }
  }

  return Object.freeze<FleetViews>({
    kernels,
    task,
    async tasks({ statuses, archived, prefix, before, limit = MAX_ROWS }) {
      const states = [
        ...statuses ?? TaskStatus.options,
        ...(archived === true ? ["archived"] : []),
      ];
      const bodies = await everywhere({
        of: "task",
        states,
        limit,
        ...defined({ prefix, before }),
      });
      const found = bodies.flatMap((body) => AgentTask.safeParse(body).data ?? []);
      return found.filter(({ status }) => statuses?.includes(status) !== false).reverse();
    },
    async questions() {
      const bodies = await everywhere({ of: "question", states: ["open"], limit: MAX_ROWS });
      return bodies.flatMap((body) => {
        const found = Question.safeParse(isObject(body) ? body["question"] : undefined);
        return found.success && found.data.expiresAt > now() ? [found.data] : [];
      }).reverse();
    },
    async *log(id, from): AsyncGenerator<WatchEvent> {
      if (await task(id) === undefined) {
        throw new Fault("notFound", `Cannot show the log of ${id}: the fleet has no such task`);
      }
      yield* pastEvents(
        { events: ({ fromN = 0, limit }) => chain(id, fromN, limit) },
        () => Promise.resolve(undefined),
        { task: id, from },
      );
    },
    spent: (since) => spentOfTasks(spending(since)),
    async costs({ since, until }) {
      const known = new Map<string, Promise<AgentTask | undefined>>();
      return await sumsOf(spentOfTasks(spending(since)), {
        until,
        find(name) {
          const found = known.get(name) ?? task(name as TaskId);
          known.set(name, found);
          return found;
        },
      });
    },
    async verify(head): Promise<Json> {
      const all = (await kernels()).filter(({ publicKey }) => publicKey !== "");
      const found = await Promise.all(all.map(async ({ id, name, publicKey }) => {
        const { ok, events, head, bad } = await check(store.logOf(id), publicKey);
        return defined({ kernel: name, ok, events, key: publicKey, head, bad });
      }));
      let kept = head === undefined;
      for (const { id, publicKey } of all) {
        kept ||= (await check(store.logOf(id), publicKey, head)).ok;
      }
      return toJson({
        ok: kept && found.every(({ ok }) => ok),
        ...(kept ? {} : { bad: { why: "the head that was kept stands in no kernel's log" } }),
        kernels: found,
      });
    },
  });
}

function rowsOf(page: Json): readonly Readonly<Record<string, Json>>[] {
  return isObject(page) && Array.isArray(page["rows"]) ? page["rows"].filter(isObject) : [];
}

function parsed(body: Json | undefined): Json {
  return typeof body === "string" ? JSON.parse(body) : null;
}
