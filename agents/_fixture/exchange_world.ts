/** Exchanges over a real service and real inboxes, a store in memory and a host that a test controls, for tests of this folder. */
import type { Label, TaskId } from "../../contracts/authority/mod.ts";
import {
  type Exchange,
  type ExchangeId,
  PeerName,
  type PeerSend,
  type PushConfig,
} from "../../contracts/exchange/mod.ts";
import type { NewEvent } from "../../contracts/task/mod.ts";
import type { Artifact } from "../../contracts/tool/mod.ts";
import { RULES, settled as soon } from "./bench.ts";
import { handPowers } from "../../broker/_fixture/hand_powers.ts";
import { handHost, pastOf, requestOf } from "./fakes.ts";
import { documentLog } from "./inbox_world.ts";
import type { Exchanges } from "../post/exchange/parts.ts";
import { MAX_WORDS } from "../post/exchange/words.ts";
import { openExchanges } from "../post/exchange/exchanges.ts";
import { type Inbox, openInbox } from "../post/inbox/inbox.ts";
import { frameMessages } from "../post/inbox/deliveries.ts";
import { type AgentService, makeHostedAgentService } from "../service.ts";
import { makeTaskKeeper } from "../task/keeper.ts";

/** State that survives a kernel. */
export interface Disk {
  readonly log: ReturnType<typeof documentLog>;
  readonly events: { task: string; event: NewEvent; at: number }[];
  /** The last commit that succeeds: later ones are lost with their kernel. */
  last: number;
  commits: number;
}

/** An empty state. */
export function emptyDisk(): Disk {
  return { log: documentLog(), events: [], last: Infinity, commits: 0 };
}

/** One kernel's exchanges, with their surroundings. */
export interface World {
  readonly disk: Disk;
  readonly exchanges: Exchanges;
  readonly inbox: Inbox;
  readonly service: AgentService;
  readonly host: ReturnType<typeof handHost>;
  readonly powers: ReturnType<typeof handPowers>;
  /** Items that tasks put in their outboxes, with the label of the text. */
  readonly artifacts: Artifact[];
  readonly bytes: Map<string, Uint8Array>;
  label: Label;
  /** How often deliveries were announced. */
  due: number;
  readonly notes: string[];
  /** Ends this kernel as kill -9 does. */
  kill(): void;
  /** Runs everything that is ready. */
  rest(): Promise<void>;
  send(message: string | Partial<PeerSend>, more?: Partial<PeerSend>): Promise<Exchange>;
  /** Ends the running turn with this answer. */
  say(text: string): Promise<void>;
  task(exchange: Pick<Exchange, "id">): TaskId;
}

let serial = 0;

/** A kernel over a state that an earlier kernel may have used; its clock is `later` milliseconds ahead. */
export async function world(disk: Disk = emptyDisk(), later = 0): Promise<World> {
  const host = handHost();
  const powers = handPowers();
  powers.turn(later);
  serial += 1;
  const lasting = serial;
  // Another kernel has other ids.
  let drawn = 0;
  const ids = {
    ...powers,
    id: (prefix: string) =>
      `${prefix}${lasting}`.padEnd(6, "x") +
      `${++drawn}`.padStart(7 + prefix.length - 1, "0").slice(-7),
    token: () => `${lasting}`.padStart(16, "a") + `${++drawn}`.padStart(16, "0"),
  };
  const listeners: ((event: { task: string } & NewEvent & { at: number }) => void)[] = [];
  let dead = false;
  const log = {
    head: () => {
      throw new TypeError("nobody asks");
    },
    async append(
      task: string,
      events: readonly NewEvent[],
      documents: Parameters<typeof disk.log.append>[2] = [],
      at = powers.now(),
    ) {
      // A killed kernel writes nothing and receives no event.
      dead ||= disk.commits >= disk.last;
      if (dead) return await new Promise<never>(() => undefined);
      const placed = await disk.log.append(task, events, documents);
      disk.commits += 1;
      for (const event of events) disk.events.push({ task, event, at });
      for (const event of events) for (const hear of listeners) hear({ ...event, task, at });
      return placed;
    },
  };
  const store = disk.log.store;
  const keeper = makeTaskKeeper({
    ...{ log, store, now: powers.now },
    history: {
      tasks: () =>
        Promise.resolve(
          [
            ...new Set(
              disk.events.filter(({ event }) => event.kind === "taskCreated").map((each) =>
                each.task as TaskId
              ),
            ),
          ],
        ),
      async *events(task) {
        for (const { event, at, ...each } of disk.events) {
          if (each.task === task) yield { ...event, at };
        }
      },
    },
  });
  listeners.push((event) => keeper.saw(event.task as TaskId, event));
  const inbox = await openInbox({
    ...{ store, log, powers: ids, task: keeper.get, quotas: { perMinute: 1_000_000 } },
    exchangeTask: (exchange) => exchanges.taskOf(exchange),
    onQueued: (entry) => service.arrived(entry),
  });
  const service = makeHostedAgentService({
    ...{
      keeper,
      host,
      inbox,
      powers: ids,
      concurrent: 64,
      harness: "test",
      rules: RULES,
      past: pastOf(),
    },
    requestOf: (task) => {
      const created = disk.events.find((each) => each.task === task)?.event.private?.["request"];
      return Promise.resolve({ ...requestOf(), ...created as object });
    },
    asked: () => true,
    unanswered: () => false,
    stranded: () => undefined,
    rested: (task) => exchanges.rested(task),
    closing: (task, end) => exchanges.closing(task, end),
  });
  const exchanges = await openExchanges({
    ...{ store, log, inbox, service, powers: ids, turnOver: keeper.turnOver },
    labelOf: () => made.label,
    frame: (entry) => frameMessages([entry], { visibleBytes: MAX_WORDS }).content,
    artifacts: () => Promise.resolve(made.artifacts),
    read: ({ digest }) => Promise.resolve(made.bytes.get(digest) ?? new Uint8Array()),
    due: () => void (made.due += 1),
    note: (line) => void made.notes.push(line),
  });
  listeners.push((event) => exchanges.saw(event));
  const made: World = {
    ...{ disk, exchanges, inbox, service, host, powers, artifacts: [], bytes: new Map() },
    ...{ label: "public", due: 0, notes: [] },
    kill: () => void (dead = true),
    async rest(): Promise<void> {
      for (let i = 0; i < 8; i++) await soon();
      await exchanges.settled();
      for (let i = 0; i < 8; i++) await soon();
    },
    async send(message, more = {}): Promise<Exchange> {
      const given = typeof message === "string" ? {} : message;
      const text = typeof message === "string" ? message : "Tidy the plan.";
      const sent = await exchanges.send(sendOf(text, { ...given, ...more }));
      await made.rest();
      return sent;
    },
    async say(text): Promise<void> {
      await made.rest();
      host.finish({ stop: "answered", text });
      await made.rest();
    },
    task({ id }): TaskId {
      const task = exchanges.taskOf(id);
      if (task === undefined) throw new Error(`exchange ${id} has no task`);
      return task;
    },
  };
  await service.recover();
  await exchanges.recover();
  return made;
}

let messages = 0;

/** A message of alice, who is admitted at once. */
export function sendOf(text: string, more: Partial<PeerSend> = {}): PeerSend {
  return {
    peer: PeerName.parse("alice"),
    agent: "helper",
    message: {
      ...{ id: `m${++messages}`, role: "peer", parts: [{ kind: "text", text }] },
      ...{ extensions: [], references: [], at: 1 },
    },
    accept: "auto",
    request: requestOf({ request: "Answer your peer.\n{{body}}", profile: "guest" }),
    clearance: "public",
    most: { open: 16, perDay: 200 },
    ...more,
  };
}

/** Other peers. */
export const MALLORY = PeerName.parse("mallory"), ALICE = PeerName.parse("alice");

/** A peer's address for deliveries. */
export function pushOf(id: string): PushConfig {
  return { id, url: `https://alice.example/${id}` };
}

/** The text of a status. */
export function statusOf({ status }: Exchange): string {
  return (status?.parts ?? []).map((part) => part.kind === "text" ? part.text : part.kind).join("");
}

/** The texts of the history, each with its author. */
export function historyWords({ history }: Exchange): readonly string[] {
  return history.map(({ role, parts }) =>
    `${role}: ${parts.map((part) => part.kind === "text" ? part.text : part.kind).join("")}`
  );
}

/** The present state of an exchange. */
export async function now(world: World, { id }: { readonly id: ExchangeId }): Promise<Exchange> {
  return await world.exchanges.get({ exchange: id });
}
