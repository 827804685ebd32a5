/** Exchanges with peers: A2A tasks as the kernel keeps them. Wired in kernel/main_agents.ts. @module */
import { cleared, mixLabel } from "../../../contracts/authority/colour.ts";
import { ExchangeId } from "../../../contracts/exchange/exchange.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { TaskId } from "../../../contracts/authority/ids.ts";
import type {
  Exchange,
  PeerDue,
  PeerName,
  PeerPage,
  PeerQuery,
  PushConfig,
} from "../../../contracts/exchange/mod.ts";
import type { PushAsk } from "../../../contracts/wire/mod.ts";
import { peerArtifact, saying } from "./words.ts";
import { makeExchangeFollow } from "./follow.ts";
import { type ExchangeHead, isOver, type Push } from "./head.ts";
import { type ExchangeKeeper, openExchangeKeeper } from "./keeper.ts";
import type { ExchangeParts, Exchanges, ExchangeTask } from "./parts.ts";
import { closed, makeExchangeSends, makeExchangeTasks } from "./send.ts";

/** Ignores a conflict: the exchange has changed meanwhile, and the caller reads it again. */
function unlessConflict(error: unknown): void {
  if (!(error instanceof Fault) || error.code !== "conflict") throw error;
}

/** Events that may change the state of a task's exchange. */
const WAITS: ReadonlySet<string> = new Set(["held", "quarantined", "queued"]);
const STEPS: ReadonlySet<string> = new Set(["taskStatus", "message", "purged"]);

/** Opens the exchanges of a kernel. Call `recover` once the tasks are loaded. @throws Fault `storeCorrupt` */
export async function openExchanges(parts: ExchangeParts): Promise<Exchanges> {
  const { inbox, service, powers } = parts;
  const keeper = await openExchangeKeeper({
    ...{ store: parts.store, log: parts.log, now: powers.now },
    changed: (head) => hasDueDelivery(head) && parts.due(),
  });

  const need = (
    { peer, exchange }: { readonly peer?: PeerName | undefined; readonly exchange: ExchangeId },
  ): ExchangeHead => {
    const head = keeper.get(exchange);
    // INVARIANT: another peer's exchange is treated as unknown (test: "mallory … another peer's exchange").
    if (head !== undefined && (peer === undefined || peer === head.peer)) return head;
    throw new Fault("notFound", `Cannot find exchange "${exchange}"`);
  };

  const follow = makeExchangeFollow({ ...parts, keeper });
  const sends = makeExchangeSends({ ...parts, keeper, need });
  const pushes = makeExchangePushes({ powers, keeper, need });

  const { show, taskOf } = makeExchangeTasks({ powers, keeper, need, labelOf: parts.labelOf });

  const erase = async (exchange: ExchangeId): Promise<void> =>
    await keeper.turn(exchange, async () => {
      const head = need({ exchange });
      if (!isOver(head.state)) throw closed(head, "erase");
      await keeper.erase(exchange);
    });

  const eraseOf = async (task: TaskId): Promise<void> => {
    if (keeper.ofTask(task) === undefined) await keeper.all();
    const head = keeper.ofTask(task);
    if (head !== undefined) await erase(head.id);
  };

  const reject = async (exchange: ExchangeId, why: string): Promise<void> =>
    await keeper.turn(exchange, async () => {
      const before = keeper.get(exchange);
      if (before?.state !== "submitted") return;
      const next = { ...before, state: "rejected", status: saying({ powers, text: why }) } as const;
      await keeper.write({ before, next: { ...next, said: true }, request: null });
    });

  const found = (exchange: string): ExchangeHead | undefined => {
    const id = ExchangeId.safeParse(exchange);
    return id.success ? keeper.get(id.data) : undefined;
  };

  return Object.freeze<Exchanges>({
    ...pushes,
    send: sends.send,
    get: async (ask) => await keeper.whole(need(ask)),
    async list(query) {
      await keeper.all();
      return await listExchanges(keeper, query);
    },
    async cancel(ask): Promise<Exchange> {
      const { exchange } = ask;
      return await keeper.turn(exchange, async () => {
        need(ask);
        // The task may have ended without the exchange knowing.
        await follow.now(exchange).catch(unlessConflict);
        const before = need(ask);
        if (isOver(before.state)) throw closed(before, "cancel");
        const who = ask.peer === undefined ? "its operator" : "its peer";
        if (before.task !== undefined) await service.cancel(before.task, `cancelled by ${who}`);
        else if (WAITS.has((await inbox.read(before.entry))?.state ?? "")) {
          await inbox.dismiss(before.entry, `cancelled by ${who}`);
        }
        const { asking: _asking, answering: _answering, status: _status, ...rest } = before;
        const request = before.task === undefined ? { request: null } : {};
        const next = { ...rest, state: "canceled", said: false } as const;
        return await keeper.whole(await keeper.write({ before, next, ...request }));
      });
    },
    async watch(ask, hear): Promise<{ readonly exchange: Exchange; stop(): void }> {
      return await keeper.turn(ask.exchange, async () => {
        const head = need(ask);
        const exchange = await keeper.whole(head);
        if (isOver(head.state)) return { exchange, stop: () => undefined };
        const { progress = true } = ask;
        const stop = keeper.hear(head.id, (event) => {
          if (progress || event.kind !== "progress") hear(event);
          if (event.kind === "state" && isOver(event.exchange.state)) stop();
        });
        return { exchange, stop };
      });
    },
    async reply({ exchange, text }): Promise<Exchange> {
      return await keeper.turn(exchange, async () => {
        const before = need({ exchange });
        if (isOver(before.state)) throw closed(before, "answer in");
        const next = { ...before, status: saying({ powers, text }), said: true };
        return await keeper.whole(await keeper.write({ before, next, note: { by: "operator" } }));
      });
    },
    async export({ exchange, artifact: id }): Promise<Exchange> {
      return await keeper.turn(exchange, async () => {
        const before = need({ exchange });
        // A person may export an artifact even after completion.
        if (isOver(before.state) && before.state !== "completed") throw closed(before, "export to");
        const made = before.task === undefined ? [] : await parts.artifacts(before.task);
        const one = made.find((each) => each.id === id);
        if (one === undefined) {
          throw new Fault("notFound", `Cannot export "${id}": ${exchange} has no such artifact`);
        }
        if (one.state !== "released") {
          throw new Fault("conflict", `Cannot export "${id}": it is ${one.state}, not released`);
        }
        if (!cleared(one.label, before.clearance)) {
          throw new Fault(
            "clearance",
            `Cannot export "${id}": it is ${one.label}, and ${before.peer} is cleared for ` +
              `${before.clearance}; raise peers.${before.peer}.clearance`,
          );
        }
        const { name } = one, bytes = await parts.read(one);
        const artifact = peerArtifact({
          id: `p${id}`,
          name,
          description: "",
          shown: { kind: "bytes", bytes },
          label: one.label,
          artifact: one.id,
        });
        return await keeper.whole(await show(before, artifact));
      });
    },
    async erase(which): Promise<{ readonly erased: number }> {
      if ("exchange" in which) {
        await erase(which.exchange);
        return { erased: 1 };
      }
      await keeper.all();
      const old = [...keeper.list(which.peer)].filter(({ state, updatedAt }) =>
        isOver(state) && updatedAt < which.before
      );
      for (const { id } of old) await erase(id);
      return { erased: old.length };
    },
    onRelease: async (entry) =>
      found(entry.exchange ?? "")?.entry === entry.id
        ? await sends.release(entry)
        : await inbox.release(entry.id),
    async onDismiss(entry, why): Promise<void> {
      const head = found(entry.exchange ?? "");
      if (head?.entry === entry.id) await reject(head.id, why);
    },
    ofTask(task: TaskId): ExchangeTask | undefined {
      const head = keeper.ofTask(task);
      return head === undefined ? undefined : taskOf(head);
    },
    taskOf: (exchange) => found(exchange)?.task,
    saw({ task, kind }): void {
      const id = STEPS.has(kind) ? TaskId.safeParse(task).data : undefined;
      if (id === undefined) return;
      const head = keeper.ofTask(id);
      if (head !== undefined) {
        if (kind === "message") follow.began(head.id);
        follow.step(head.id);
      }
      if (kind !== "purged") return;
      eraseOf(id).catch((error: unknown) => parts.note(`Not erased: ${String(error)}`));
    },
    async closing(task, end): Promise<boolean> {
      const head = keeper.ofTask(task);
      if (head === undefined) return false;
      return await keeper.turn(head.id, () => follow.closing(head.id, end));
    },
    rested(task: TaskId): void {
      const head = keeper.ofTask(task);
      if (head !== undefined) follow.step(head.id);
    },
    text(task: TaskId, text: string): void {
      const head = keeper.ofTask(task);
      if (head === undefined || !keeper.heard(head.id)) return;
      const label = mixLabel(service.get(task).label, parts.labelOf(task));
      if (cleared(label, head.clearance)) keeper.tell(head.id, { kind: "progress", text, label });
    },
    async recover(): Promise<void> {
      for (const { id, state, task, entry } of [...keeper.list()]) {
        if (isOver(state)) continue;
        if (task !== undefined) follow.step(id);
        else {
          const kept = await inbox.read(entry);
          if (kept?.state === "dismissed" || kept?.state === "expired") {
            await reject(id, kept.why ?? "It was not taken.");
          }
        }
      }
      await follow.settled();
    },
    settled: follow.settled,
  });
}

// Lists a peer's exchanges, newest change first, page by page. A2A protocol 1.0, ListTasks.

/** Maximum characters of contents in one page; the page ends early if they exceed it. */
const MAX_PAGE = 8_000_000;
const PAGE = /^(\d{1,16})\.(x[0-9a-z]{24})$/;

/** Finds a page. An exchange that changes meanwhile moves to the front and shifts no other. */
async function listExchanges(
  keeper: Pick<ExchangeKeeper, "list" | "whole">,
  query: Omit<PeerQuery, "peer"> & { readonly peer?: PeerQuery["peer"] | undefined },
): Promise<PeerPage> {
  const { peer, context, state, since = 0, size, page } = query;
  const after = page === undefined || page === "" ? undefined : placeIn(page);
  const fits = [...keeper.list(peer)].filter((head) =>
    (context === undefined || head.context === context) &&
    (state === undefined || head.state === state) && head.updatedAt >= since
  ).sort(newestFirst);
  const rest = after === undefined ? fits : fits.filter((head) => newestFirst(after, head) < 0);
  const exchanges: Exchange[] = [];
  let room = MAX_PAGE;
  for (const head of rest.slice(0, size)) {
    const { theirs, ours } = head.bytes;
    room -= theirs + ours;
    if (room < 0 && exchanges.length > 0) break;
    exchanges.push(await keeper.whole(head));
  }
  const last = exchanges.at(-1);
  const more = last !== undefined && exchanges.length < rest.length;
  return { exchanges, total: fits.length, next: more ? `${last.updatedAt}.${last.id}` : "" };
}

type Place = Pick<ExchangeHead, "updatedAt"> & { readonly id: string };

function newestFirst(a: Place, b: Place): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

function placeIn(page: string): Place {
  const [, at, id] = PAGE.exec(page) ?? [];
  if (at === undefined || id === undefined) {
    throw new Fault("invalidInput", "Cannot list exchanges: the page token is none of ours");
  }
  return { updatedAt: Number(at), id };
}

/** Maximum number of push configurations of one exchange, and default page size of due deliveries. */
const MAX_PUSHES = 16;
const DEFAULT_DUE = 64;
/** Maximum characters of contents in one answer; the rest stays due. */
const MAX_DUE = 16_000_000;

/** Push configurations and their delivery state. */
function makeExchangePushes(
  { keeper, need, powers }: Pick<ExchangeParts, "powers"> & {
    readonly keeper: ExchangeKeeper;
    need(
      ask: { readonly peer?: PeerName | undefined; readonly exchange: PushAsk["exchange"] },
    ): ExchangeHead;
  },
): Pick<Exchanges, "push" | "due" | "delivered"> {
  const write = async (before: ExchangeHead, pushes: readonly Push[]): Promise<void> =>
    void await keeper.write({ before, next: { ...before, pushes }, quiet: true });

  const isDue = (head: ExchangeHead, { delivered, again }: Push): boolean =>
    delivered < head.version && again <= powers.now();

  return Object.freeze({
    async push(ask): Promise<readonly PushConfig[]> {
      const { exchange, op } = ask;
      return await keeper.turn(exchange, async () => {
        const head = need(ask);
        const configs = head.pushes.map(({ config }) => config);
        if (op.kind === "list") return configs;
        if (op.kind === "get") {
          const found = configs.filter(({ id }) => id === op.id);
          if (found.length > 0) return found;
          throw new Fault("notFound", `Cannot find a push configuration "${op.id}" of ${exchange}`);
        }
        const without = (id: string) => head.pushes.filter(({ config }) => config.id !== id);
        if (op.kind !== "set") {
          const left = without(op.id);
          if (left.length < head.pushes.length) await write(head, left);
          return left.map(({ config }) => config);
        }
        const others = without(op.config.id);
        if (others.length >= MAX_PUSHES) {
          throw new Fault("tooLarge", `Cannot tell more than ${MAX_PUSHES} places of ${exchange}`);
        }
        const push = { config: op.config, delivered: head.version, attempt: 0, again: 0 };
        await write(head, [...others, push]);
        return [op.config];
      });
    },
    async due(limit = DEFAULT_DUE): Promise<readonly PeerDue[]> {
      const rows = [...keeper.list()].flatMap((head) =>
        head.pushes.flatMap((push) => isDue(head, push) ? [{ head, push }] : [])
      ).sort((a, b) => a.head.updatedAt - b.head.updatedAt).slice(0, limit);
      let room = MAX_DUE;
      const some = rows.filter(({ head: { bytes } }, n) =>
        (room -= bytes.theirs + bytes.ours) >= 0 || n === 0
      );
      return await Promise.all(some.map(async ({ head, push: { config, attempt } }) => ({
        exchange: await keeper.whole(head),
        ...{ config, attempt, version: head.version, event: null },
      })));
    },
    async delivered({ exchange, config, version, ok, again = 0 }): Promise<void> {
      await keeper.turn(exchange, async () => {
        const head = keeper.get(exchange);
        // Erased or removed while the delivery was running.
        if (head?.pushes.some((push) => push.config.id === config) !== true) return;
        await write(
          head,
          head.pushes.map((push) =>
            push.config.id !== config ? push : ok
              ? {
                ...push,
                delivered: Math.max(push.delivered, Math.min(version, head.version)),
                attempt: 0,
                again: 0,
              }
              : { ...push, attempt: push.attempt + 1, again }
          ),
        );
      });
    },
  });
}

/** Whether a change of this exchange is due for delivery. */
function hasDueDelivery(head: ExchangeHead): boolean {
  return head.pushes.some(({ delivered }) => delivered < head.version);
}
