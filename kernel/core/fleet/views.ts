/**
 * What a person sees of all kernels, read from the database that they share: one list of tasks, one log, one cost, one
 * check of every chain. Nothing here is kept: a kernel that was killed is seen as it left things. docs/decision/0117.
 * @module
 */
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

/** A kernel's log as it was checked. */
interface Checked {
  readonly ok: boolean;
  readonly events: number;
  readonly head?: string;
  readonly bad?: unknown;
}

/** What {@link makeFleetViews} is handed. */
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
  /** Checks one kernel's log. */
  check(
    log: Pick<Store, "events" | "heads">,
    publicKey: string,
    head?: Digest,
  ): Promise<Checked>;
}

/** The fleet as a person sees it. */
export interface FleetViews {
  kernels(): Promise<readonly FleetKernel[]>;
  /** Tasks of all kernels, the newest that fit, oldest first. */
  tasks(query: Omit<TaskQuery, "after" | "oldest">): Promise<readonly AgentTask[]>;
  /** A task, whichever kernel has it; undefined where there is none. */
  task(id: TaskId): Promise<AgentTask | undefined>;
  /** Questions that are open and have not expired, oldest first. */
  questions(): Promise<readonly Question[]>;
  /** A task's events: what is private of them is its owner's alone. Throws `notFound`. */
  log(task: TaskId, from: number): AsyncIterable<WatchEvent>;
  /** Payments of all kernels since a time. */
  spent(since: number): AsyncIterable<Spent>;
  costs(
    span: { readonly since: number; readonly until?: number | undefined },
  ): Promise<readonly CostRow[]>;
  /** Every log; `head`, one that was kept, is to be the end of one of them. */
  verify(head: Digest | undefined): Promise<Json>;
}

/** Tasks of one look. */
const MAX_TASKS = 1_000;

/** Makes it. */
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
      // A frame holds only so much: what is past it is asked for again.
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
    limit = MAX_TASKS,
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
    async tasks({ statuses, archived, prefix, before, limit = MAX_TASKS }) {
      const states = [
        ...statuses ?? TaskStatus.options,
        ...(archived === true ? ["archived"] : []),
      ];
      const bodies = await everywhere({
        ...{ of: "task", states, limit },
        ...(prefix === undefined ? {} : { prefix }),
        ...(before === undefined ? {} : { before }),
      });
      const found = bodies.flatMap((body) => AgentTask.safeParse(body).data ?? []);
      return found.filter(({ status }) => statuses?.includes(status) !== false).reverse();
    },
    async questions() {
      const bodies = await everywhere({ of: "question", states: ["open"], limit: MAX_TASKS });
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
        return {
          ...{ kernel: name, ok, events, key: publicKey },
          ...(head === undefined ? {} : { head }),
          ...(bad === undefined ? {} : { bad }),
        };
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
