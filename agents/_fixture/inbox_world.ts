/** Inboxes over a log in memory that keeps documents as the store does, for tests of this folder. */
import { Digest, SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import {
  type AgentMessage,
  Box,
  type InboxEntry,
  type MessageStamp,
  Sender,
} from "../../contracts/exchange/mod.ts";
import type { DocumentRow, DocumentWrite, NewEvent } from "../../contracts/task/mod.ts";
import { handPowers } from "../../broker/_fixture/hand_powers.ts";
import { storeOver } from "./fakes.ts";
import { type Inbox, type InboxParts, openInbox } from "../post/inbox/inbox.ts";
import type { KnownTask } from "../post/inbox/judge.ts";

/** Documents with versions, and the events of their commits. */
export function documentLog(): {
  readonly store: ReturnType<typeof storeOver>;
  readonly rows: Map<string, DocumentRow>;
  readonly events: { readonly task: string; readonly event: NewEvent }[];
  append: InboxParts["log"]["append"];
  full: boolean;
} {
  const rows = new Map<string, DocumentRow>();
  const key = ({ kind, id }: Pick<DocumentWrite, "kind" | "id">): string => `${kind} ${id}`;
  const zero = Digest.parse("0".repeat(64));
  const log = {
    rows,
    events: [] as { task: string; event: NewEvent }[],
    full: false,
    append(task: string, events: readonly NewEvent[], documents: readonly DocumentWrite[] = []) {
      if (log.full) return Promise.reject(new Fault("storeFull", "Cannot append: it is full"));
      for (const write of documents) {
        if ((rows.get(key(write))?.version ?? 0) !== write.expect) {
          return Promise.reject(new Fault("conflict", `Cannot write ${key(write)}`));
        }
      }
      for (const { expect, ...write } of documents) {
        rows.set(key(write), { ...write, version: expect + 1 });
      }
      for (const event of events) log.events.push({ task, event });
      return Promise.resolve(events.map((_, n) => ({ n, hash: zero })));
    },
    store: storeOver(() => [...rows.values()]),
  };
  return log;
}

/** People and tasks: alice's two tasks are of one session, bob's is of another. */
export const ALICE = TaskId.parse("talice0000000");
export const ALICE_TOO = TaskId.parse("talice0000001");
export const BOB = TaskId.parse("tbob000000000");
export const DONE = TaskId.parse("tdone00000000");
/** The exchange of the peer mallory, whose task is BOB. */
export const EXCHANGE = "x0000000000000000000000ma";

const session = (name: string): SessionId => SessionId.parse(`s${name.padEnd(12, "0")}`);

/** A world of inboxes, with a clock turned by hand. */
export interface InboxWorld {
  readonly log: ReturnType<typeof documentLog>;
  readonly powers: ReturnType<typeof handPowers>;
  readonly tasks: Map<TaskId, KnownTask>;
  readonly queued: InboxEntry[];
  inbox: Inbox;
  /** The inboxes of a kernel that starts again. */
  again(): Promise<Inbox>;
}

export async function inboxWorld(more: Partial<InboxParts> = {}): Promise<InboxWorld> {
  const log = documentLog();
  const powers = handPowers();
  // A day after the first, so that there is an earlier window.
  powers.turn(86_400_000);
  const open = (name: string): KnownTask => ({
    ...{ status: "open", session: session(name), purged: false },
  });
  const tasks = new Map<TaskId, KnownTask>([
    [ALICE, open("alice")],
    [ALICE_TOO, open("alice")],
    [BOB, open("bob")],
    [DONE, { ...open("alice"), status: "done" }],
  ]);
  const queued: InboxEntry[] = [];
  const opened = (): Promise<Inbox> =>
    openInbox({
      ...{ store: log.store, log, powers },
      task: (id) => tasks.get(id),
      exchangeTask: (exchange) => exchange === EXCHANGE ? BOB : undefined,
      onQueued: (entry) => queued.push(entry),
      ...more,
    });
  const world: InboxWorld = {
    ...{ log, powers, tasks, queued },
    inbox: await opened(),
    async again(): Promise<Inbox> {
      world.inbox = await opened();
      return world.inbox;
    },
  };
  return world;
}

/** mallory, a peer. */
export const PEER = Sender.parse("peer:mallory");

let ids = 0;

/** A status from the person, with the given changes. */
export function messageOf(more: Partial<AgentMessage> = {}): AgentMessage {
  return {
    id: `id-${ids++}`,
    sender: Sender.parse("host"),
    kind: "status",
    body: "Lunch is ready.",
    artifactRefs: [],
    requestedActions: [],
    requestedAuthority: [],
    ...more,
  };
}

/** Puts an item from outside into a task's inbox. */
export function stampOf(task: TaskId | string, more: Partial<MessageStamp> = {}): MessageStamp {
  const box = Box.parse(task.includes(":") ? task : `task:${task}`);
  return { box, colour: "RED", label: "public", ...more };
}

/** From mallory, a peer, about {@link EXCHANGE}. */
export function ofPeer(more: Partial<AgentMessage> = {}): AgentMessage {
  return messageOf({ sender: PEER, senderTask: EXCHANGE, ...more });
}

/** Into bob's inbox, about {@link EXCHANGE}. */
export const TO_BOB = stampOf(BOB, { exchange: EXCHANGE });
