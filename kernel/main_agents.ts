/** Wires tasks, their incoming messages, and conversations. Used by main_work.ts. @module */
import { allTasks } from "../contracts/task/hosting.ts";
import { TaskId } from "../contracts/authority/ids.ts";
import type { Label } from "../contracts/authority/mod.ts";
import type { ContentTrust } from "../contracts/memory/mod.ts";
import type { EventLog, Powers, Store } from "../contracts/task/mod.ts";
import type { Artifact } from "../contracts/tool/mod.ts";
import {
  type AgentService,
  type Exchanges,
  frameMessages,
  type Inbox,
  isFinal,
  makeHostedAgentService,
  makeNotices,
  makeTaskKeeper,
  MAX_WORDS,
  openConversations,
  openExchanges,
  openInbox,
  openResources,
  type Resources,
  type ServiceParts,
  type TaskKeeper,
  taskOfBox,
} from "../agents/mod.ts";
import type { Bus } from "./core/log/watch.ts";
import { type ConversationReads, makePastConversations } from "./task/context_past.ts";
import { type InboxOps, makeInboxOps } from "./control/inbox_ops.ts";
import { makeResourceOps, type ResourceOps } from "./control/resource_ops.ts";
import {
  makeDeliver,
  makePeerOps,
  makePeerWatching,
  type PeerOps,
  type PeerWatching,
} from "./power/peer/peer_ops.ts";
import type { Uses } from "../contracts/task/spending.ts";
import type { NetService } from "./power/net/net_service.ts";
import { makeOutbox, type Outbox } from "./task/outbox.ts";
import { type ReadPrivate, requestOfTask } from "./core/log/read_events.ts";
import { makeClockDoubt, retain } from "./control/retention.ts";
import { countState, makeEndedList, makePastTasks, type StateOps } from "./task/task_history.ts";
import { taskSpans } from "./control/task_spans.ts";

/** The kernel's parts around tasks. */
export interface WireAgentsParts
  extends Pick<ServiceParts, "host" | "harness" | "rules" | "asked" | "unanswered" | "recount"> {
  readonly store: Store;
  readonly log: EventLog;
  readonly bus: Pick<Bus, "listen">;
  readonly powers: Powers;
  /** Known colours and labels of contents. */
  readonly contents: ContentTrust;
  readonly readPrivate: ReadPrivate;
  /** Tasks with live processes, at most; more wait their turn. */
  readonly concurrent: number;
  stranded(task: TaskId, why: string, exit: number): void;
  /** The current label of a task's processes; undefined where it has none. */
  labelNow(task: TaskId): Label | undefined;
  readonly net: Pick<NetService, "provide" | "freshId">;
  /** Budgets of what is sent to peers. */
  readonly uses: Pick<Uses, "take">;
  /** Tells whether one of two tasks has read a letter of the other. */
  related(a: TaskId, b: TaskId): boolean;
  /** The bytes of an artifact. Rejects with `notFound`. */
  read(artifact: Artifact): Promise<Uint8Array>;
  /** Milliseconds of a monotonic clock. */
  steady(): number;
  /** Writes a line to the kernel's own log. */
  note(line: string): void;
}

/** Tasks and conversations of a kernel. */
export interface MainAgents {
  readonly keeper: TaskKeeper;
  readonly past: ConversationReads & ServiceParts["past"];
  readonly service: AgentService;
  readonly inbox: Inbox;
  readonly conversations: Awaited<ReturnType<typeof openConversations>>;
  readonly outbox: Outbox;
  readonly exchanges: Exchanges;
  /** Shared resources of tasks. */
  readonly resources: Resources;
  /** Operations on exchanges that continue after their answer. */
  readonly peers: PeerWatching;
  /** Handlers of control operations. */
  readonly ops: InboxOps & PeerOps & StateOps & ResourceOps;
  /** Milliseconds by which the clock may be wrong, ahead of the log's evidence. */
  ahead(): number;
}

/** Wires tasks and their incoming messages. No task runs before `service.recover`. */
export async function wireAgents(parts: WireAgentsParts): Promise<MainAgents> {
  const { store, log, bus, powers, readPrivate } = parts;
  const keeper = makeTaskKeeper({
    ...{ log, store, now: powers.now },
    history: makePastTasks(store, readPrivate),
  });
  bus.listen(undefined, (event) => {
    const task = TaskId.safeParse(event.task);
    if (task.success) keeper.saw(task.data, event);
  });
  const past = makePastConversations({ store, readPrivate });
  const inbox = await openInbox({
    ...{ store, log, powers },
    ...{ task: keeper.get, related: parts.related },
    onQueued: (entry) => service.arrived(entry),
    exchangeTask: (exchange) => exchanges.taskOf(exchange),
  });
  const service = makeHostedAgentService({
    ...parts,
    ...{ keeper, past, inbox },
    waiting: () => inbox.list({}).flatMap(({ box }) => taskOfBox(box) ?? []),
    rested: (task) => exchanges.rested(task),
    closing: (task, end) => exchanges.closing(task, end),
    requestOf: (task) => requestOfTask(store, readPrivate, task),
  });
  const conversations = await openConversations({ store, service, now: powers.now });
  const outbox = makeOutbox({
    ...{ store, log, readPrivate, tasks: () => allTasks(service.list), now: powers.now },
    contents: parts.contents,
  });
  const exchanges = await openExchanges({
    ...{ store, log, inbox, service, powers },
    ...{ turnOver: keeper.turnOver, artifacts: outbox.list, read: parts.read, note: parts.note },
    labelOf: (task) => parts.labelNow(task) ?? "public",
    frame: (entry) => frameMessages([entry], { visibleBytes: MAX_WORDS }).content,
    due: () => peers.more(),
  });
  const resources = await wireResources({ ...parts, keeper, inbox });
  const peers = makePeerWatching(() => exchanges);
  bus.listen(undefined, exchanges.saw);
  const [last] = await store.events({ newest: true, limit: 1 });
  const ahead = makeClockDoubt({ lastEventAt: last?.at, now: powers.now, steady: parts.steady });
  const ended = makeEndedList();
  bus.listen(undefined, ended.saw);
  const ops = {
    ...makeInboxOps({
      inbox,
      decisions: ({ exchange }) => exchange === undefined ? undefined : exchanges,
    }),
    ...makePeerOps({ exchanges, deliver: makeDeliver(parts) }),
    ...makeResourceOps({ resources, find: service.find }),
    ended: ({ after }: Parameters<StateOps["ended"]>[0]) => ended.since(after),
    spans: ({ task }: Parameters<StateOps["spans"]>[0]) => taskSpans(store, task),
    counts: () => countState({ tally: keeper.tally, inbox, exchanges }),
    retain: (asked: Parameters<StateOps["retain"]>[0]) => {
      const kept = new Set(conversations.list().map(({ task }) => task));
      return retain(
        { service, exchanges, inbox, ahead, named: (task) => kept.has(task) },
        asked,
      );
    },
  };
  return Object.freeze({
    ...{
      keeper,
      past,
      service,
      inbox,
      conversations,
      outbox,
      exchanges,
      resources,
      peers,
      ops,
      ahead,
    },
  });
}

/** Opens shared resources: claims of a task or its child end with it. */
async function wireResources(
  { store, log, powers, bus, note, keeper, inbox }:
    & Pick<WireAgentsParts, "store" | "log" | "powers" | "bus" | "note">
    & Pick<MainAgents, "keeper" | "inbox">,
): Promise<Resources> {
  const isOver = (task: TaskId): boolean => {
    const known = keeper.get(task);
    return known !== undefined && isFinal(known.status);
  };
  const resources = await openResources({
    ...{ store, log, powers, note, isOver },
    ...makeNotices({
      ...{ inbox, note },
      listens: (task) => keeper.get(task) !== undefined && !isOver(task),
    }),
    hasLog: (task) => keeper.get(task)?.purged === false,
  });
  bus.listen(undefined, ({ task, kind, body }) => {
    const id = TaskId.safeParse(task).data;
    if (id === undefined) return;
    const freed = kind === "purged"
      ? resources.forget(id)
      : kind === "processEnded"
      ? resources.ownerEnded(id, Number(body["pid"]))
      : kind === "taskStatus" && isOver(id)
      ? resources.ownerEnded(id)
      : undefined;
    freed?.catch((error: unknown) =>
      note(`What task ${id} had claimed is not free yet: ${String(error)}`)
    );
  });
  return resources;
}
