/** A log, a store and a host in memory, for tests of this folder. */
import type { ChatMessage } from "../../contracts/model/mod.ts";
import type {
  AgentTask,
  DocumentRow,
  DocumentWrite,
  EventLog,
  HostedTask,
  NewEvent,
  PastConversations,
  ReviewOutcome,
  Store,
  TaskHost,
  TaskRequest,
  TurnOutcome,
  UsedUp,
} from "../../contracts/task/mod.ts";
import { Digest, SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { TaskHistory } from "../task/fold.ts";

/** A log that keeps everything, or refuses when a test says so. */
export function memoryLog(): EventLog & {
  readonly events: { task: string; event: NewEvent; at: number }[];
  readonly documents: Map<string, DocumentWrite>;
  full: boolean;
} {
  const events: { task: string; event: NewEvent; at: number }[] = [];
  const documents = new Map<string, DocumentWrite>();
  const zero = Digest.parse("0".repeat(64));
  const log = {
    events,
    documents,
    full: false,
    append(
      task: string,
      list: readonly NewEvent[],
      writes: readonly DocumentWrite[] = [],
      at = 1,
    ) {
      if (log.full) {
        return Promise.reject(new Fault("storeFull", "Cannot append: the disk is full"));
      }
      for (const event of list) events.push({ task, event, at });
      for (const write of writes) documents.set(`${write.kind} ${write.id}`, write);
      return Promise.resolve(list.map((_, n) => ({ n, hash: zero })));
    },
    head: () => zero,
  };
  return log;
}

/** The documents of a memory log, as a store returns them. */
export function storeOf(log: ReturnType<typeof memoryLog>): ReturnType<typeof storeOver> {
  return storeOver(() =>
    [...log.documents.values()].map(({ expect, ...row }) => ({ ...row, version: expect + 1 }))
  );
}

/** The answer of a store that has these documents. */
export function storeOver(
  rows: () => readonly DocumentRow[],
): Pick<Store, "document" | "documents" | "peek"> {
  const peek = (kind: string, id: string): DocumentRow | undefined =>
    rows().find((row) => row.kind === kind && row.id === id);
  const stateOf = ({ kind, body }: DocumentRow): string => {
    if (kind !== "exchange") {
      return body["archived"] === true ? "archived" : String(body["status"] ?? "");
    }
    const pushes = Array.isArray(body["pushes"]) ? body["pushes"].length : 0;
    const over = ["completed", "failed", "canceled", "rejected"].includes(String(body["state"]));
    return body["erased"] === true || (over && pushes === 0) ? "over" : "";
  };
  return {
    peek,
    document: (kind, id) => Promise.resolve(peek(kind, id)),
    documents({ kind, task, states, newest, after, before, limit = Infinity }) {
      const all = rows().filter((row) =>
        row.kind === kind && (task === undefined || row.task === task)
      );
      const placeOf = (id: string): number => all.findIndex((row) => row.id === id);
      const from = after === undefined ? -1 : placeOf(after);
      const to = before === undefined ? Infinity : placeOf(before);
      const found = all.filter((row, place) =>
        place > from && place < to && states?.includes(stateOf(row)) !== false
      );
      return Promise.resolve((newest === true ? found.toReversed() : found).slice(0, limit));
    },
  };
}

/** Conversations of two turns each; one change of each can be undone. */
export function pastOf(): PastConversations {
  return {
    restoring: (task, number) =>
      number === 1
        ? Promise.resolve({ number, turn: 2, before: 1, after: 2 })
        : Promise.reject(new Fault("notFound", `Cannot find change ${number} of ${task}`)),
    forking: ({ task, turn, message, session, ingress }, before) =>
      Promise.resolve({
        request: requestOf({
          request: message ?? "tidy my notes",
          session,
          ingress,
          interactive: true,
        }),
        body: {
          fork: { task, turn: turn ?? (before ? 1 : 2), idle: message === undefined },
          colour: "RED",
          label: "secret",
        },
        private: { history: [], sources: [] },
        answer: "Tidied.",
      }),
  };
}

/** The tasks of a memory log, as a later kernel reads them. */
export function historyOf(log: ReturnType<typeof memoryLog>): TaskHistory {
  return {
    tasks: () => Promise.resolve([...new Set(log.events.map(({ task }) => TaskId.parse(task)))]),
    async *events(task) {
      for (const each of log.events) if (each.task === task) yield { ...each.event, at: each.at };
    },
  };
}

/** A host whose turns a test ends by hand. */
export function handHost(): TaskHost & {
  readonly started: { task: AgentTask; resume: boolean }[];
  readonly ended: number[];
  readonly messages: (ChatMessage | undefined)[];
  finish(outcome: TurnOutcome & UsedUp): void;
  review: ReviewOutcome;
  interrupted: number;
  attended: boolean;
  unfinished: boolean;
} {
  const waiting: ((outcome: TurnOutcome & UsedUp) => void)[] = [];
  const host = {
    started: [] as { task: AgentTask; resume: boolean }[],
    ended: [] as number[],
    messages: [] as (ChatMessage | undefined)[],
    review: { kind: "nothing" } as ReviewOutcome,
    interrupted: 0,
    attended: true,
    unfinished: true,
    finish(outcome: TurnOutcome & UsedUp): void {
      const next = waiting.shift();
      if (next === undefined) throw new TypeError("no turn is under way");
      next(outcome);
    },
    start(task: AgentTask, _request: TaskRequest, { resume }: { resume: boolean }) {
      host.started.push({ task, resume });
      host.attended = true;
      const hosted: HostedTask = {
        turn(message) {
          host.messages.push(message);
          return new Promise((resolve) => waiting.push(resolve));
        },
        review: async (begins) => {
          if (host.review.kind !== "nothing") await begins();
          return host.review;
        },
        interrupt: () => {
          host.interrupted += 1;
        },
        unattended: () => {
          host.attended = false;
        },
        attended: () => {
          host.attended = true;
        },
        staged: () => ({ patch: null, changes: [], applied: [], content: "/nowhere" }),
        undo: () => Promise.resolve({ undone: [], conflicts: [], standing: 0 }),
        end(exit) {
          host.ended.push(exit);
          for (const each of waiting.splice(0)) each({ stop: "upstream", text: "ended" });
          return Promise.resolve();
        },
      };
      return Promise.resolve({ hosted, unfinished: host.unfinished });
    },
    staged: () => Promise.resolve({ patch: null, changes: [], applied: [], content: "/nowhere" }),
    erase: () => Promise.resolve(),
  };
  return host;
}

/** A request as the terminal makes one. */
export function requestOf(extra: Partial<TaskRequest> = {}): TaskRequest {
  return {
    request: "tidy my notes",
    session: SessionId.parse("s000000000000"),
    ingress: { channel: "terminal", principal: "carol", colour: "BLUE", label: "internal" },
    profile: "operator",
    mounts: [],
    model: { ref: "scripted:x.yaml", config: "{}" },
    limits: {},
    onQuestion: "ask",
    phase: "work",
    interactive: false,
    ...extra,
  };
}
