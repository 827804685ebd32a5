/** Accepts a peer's message: commits it to inbox and exchange together, and creates a task if allowed. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { SessionId, TaskId } from "../../../contracts/authority/ids.ts";
import { toJsonObject } from "../../../contracts/base/json.ts";
import { TaskRequest } from "../../../contracts/task/task.ts";
import { type Label, mixLabel } from "../../../contracts/authority/colour.ts";
import {
  ContextId,
  type Exchange,
  ExchangeId,
  type PeerArtifact,
  type PeerMessage,
  type PeerName,
  type PeerSend,
} from "../../../contracts/exchange/exchange.ts";
import { Box, type InboxEntry, Sender } from "../../../contracts/exchange/inbox.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { canonicalJson } from "../../../port/mod.ts";
import { type ExchangeHead, isOver, MAX_ARTIFACTS, MAX_MESSAGES, wordsDigest } from "./head.ts";
import type { ExchangeKeeper } from "./keeper.ts";
import type { ExchangeFile, ExchangeParts, ExchangeTask, InboxChange } from "./parts.ts";
import { labelOfPeer, requestWords, saying, textOfParts } from "./words.ts";

/** Maximum characters of a peer's messages in one exchange. */
const MAX_THEIRS = 4_000_000;

/** Milliseconds within which an equal first message without a context is a retry; public clients name no context. */
const RETRIES_MS = 3_600_000;

/** Accepts messages. */
interface ExchangeSends {
  send(sent: PeerSend): Promise<Exchange>;
  /** Creates the task of an exchange whose message waits. */
  release(entry: InboxEntry): Promise<InboxEntry>;
}

type SendParts = Pick<ExchangeParts, "inbox" | "service" | "powers" | "frame"> & {
  readonly keeper: ExchangeKeeper;
  need(ask: { readonly peer?: PeerSend["peer"]; readonly exchange: ExchangeId }): ExchangeHead;
};

export function makeExchangeSends(parts: SendParts): ExchangeSends {
  const { keeper, inbox, powers, service } = parts;
  /** Exchanges being written, by digest of the first message. */
  const beginning = new Map<string, Promise<Exchange>>();

  /** The request with the settings that the kernel enforces for peers. */
  const requestOf = ({ peer, request, message, metadata }: PeerSend): TaskRequest => ({
    ...request,
    session: SessionId.parse(powers.id("s")),
    ingress: {
      ...{ channel: "a2a", principal: `peer:${peer}`, colour: "RED" },
      label: labelOfPeer(message.metadata, metadata),
    },
    interactive: true,
    onQuestion: "queue",
  });

  /** Commits a change together with the new task. */
  const withTask = async (
    request: TaskRequest,
    entry: InboxChange,
    change: Parameters<ExchangeKeeper["prepare"]>[0] & { readonly task: TaskId },
  ): Promise<ExchangeHead> => {
    const { events, documents, kept } = keeper.prepare(change);
    const words = requestWords(request.request, parts.frame(entry.entry));
    await service.create({ ...request, request: words }, {
      id: change.task,
      events: [...events, ...entry.events],
      documents: [...documents, ...entry.documents],
    });
    return await kept();
  };

  /** Runs `work` and calls exactly one of the entry's `kept` and `dropped`. */
  const settling = async (
    entry: InboxChange,
    work: () => Promise<ExchangeHead>,
  ): Promise<ExchangeHead> => {
    let head: ExchangeHead;
    try {
      head = await work();
    } catch (error) {
      entry.dropped();
      throw error;
    }
    entry.kept();
    return head;
  };

  const begin = async (sent: PeerSend, first: string): Promise<Exchange> => {
    const { peer, agent, message, accept } = sent;
    const box = Box.safeParse(`agent:${agent}`);
    if (!box.success) throw new Fault("invalidInput", "Cannot begin: its agent has no such name");
    const words = textOfParts(message.parts);
    const giveBack = keeper.tally.reserve(peer, sent.most);
    const id = ExchangeId.parse(`x${powers.token().slice(-24)}`);
    const task = TaskId.parse(powers.id("t"));
    try {
      return await keeper.turn(id, async () => {
        const context = sent.context ?? ContextId.parse(`c${powers.token().slice(-24)}`);
        const request = requestOf(sent);
        const entry = await inbox.draft({
          // The id differs from that of a later message with the same content.
          ...{ ...messageOf(peer, id, message), id: nameOf(message, "f") },
          ...{ kind: "handoff", body: words },
        }, {
          ...{ box: box.data, colour: "RED", exchange: id },
          label: labelOfPeer(message.metadata, sent.metadata),
          ...(accept === "auto" ? { taken: task } : { held: true }),
        });
        const made = newHead(sent, { id, first, entry: entry.entry, now: powers.now() });
        const next: ExchangeHead = { ...made, context };
        const part = { kind: "message", message, first: true } as const;
        const change = { next, parts: [part], note: { came: "message" } };
        const head = await settling(entry, () => {
          if (entry.entry.state !== "delivered") return keeper.write({ ...change, request }, entry);
          const working = { ...next, state: "working", task } as const;
          return withTask(request, entry, { ...change, next: working, task });
        });
        return await keeper.whole(head);
      });
    } finally {
      giveBack();
    }
  };

  const follow = async (sent: PeerSend, exchange: ExchangeId): Promise<Exchange> => {
    const { peer, message, context } = sent;
    const words = textOfParts(message.parts);
    return await keeper.turn(exchange, async () => {
      const before = parts.need({ peer, exchange });
      if (context !== undefined && context !== before.context) {
        throw new Fault("invalidInput", `Cannot send to ${exchange}: it has another context`);
      }
      const part = { kind: "message", message } as const;
      if (await keeper.has(exchange, part)) return await keeper.whole(before);
      const size = checkRoom(before, message);
      const { task } = before;
      if (isOver(before.state) || task === undefined) {
        const why = task === undefined ? "nobody has let it in yet" : `it is "${before.state}"`;
        throw new Fault("conflict", `Cannot send to ${exchange}: ${why}`);
      }
      const entry = await inbox.draft({
        ...messageOf(peer, exchange, message),
        ...{ kind: "status", body: words, recipientTask: task },
      }, {
        ...{ box: Box.parse(`task:${task}`), colour: "RED", exchange },
        label: labelOfPeer(message.metadata, sent.metadata),
      });
      if (entry.duplicate) return await keeper.whole(before);
      const bytes = { ...before.bytes, theirs: before.bytes.theirs + size };
      const going = entry.entry.state === "queued" ? goingOn(before) : before;
      const change = { before, next: { ...going, bytes }, parts: [part] };
      const note = { came: "message" };
      const head = await settling(entry, () => keeper.write({ ...change, note }, entry));
      return await keeper.whole(head);
    });
  };

  return Object.freeze<ExchangeSends>({
    async send(sent): Promise<Exchange> {
      if (sent.exchange !== undefined) return await follow(sent, sent.exchange);
      const first = firstOf(sent);
      // Within a context, an equal first message always means the same exchange.
      if (sent.context !== undefined && keeper.begunBy(first) === undefined) await keeper.all();
      const known = keeper.begunBy(first);
      const again = known !== undefined &&
        (sent.context !== undefined || powers.now() - known.createdAt <= RETRIES_MS);
      if (again) return await keeper.whole(known);
      const under = beginning.get(first) ??
        begin(sent, first).finally(() => beginning.delete(first));
      beginning.set(first, under);
      return await under;
    },
    async release(entry): Promise<InboxEntry> {
      const exchange = ExchangeId.parse(entry.exchange);
      return await keeper.turn(exchange, async () => {
        const before = parts.need({ exchange });
        if (before.state !== "submitted" || before.entry !== entry.id) {
          throw new Fault(
            "conflict",
            `Cannot let ${entry.id} in: that was decided already, and ${exchange} is "${before.state}"`,
          );
        }
        const request = await keeper.request(exchange);
        const task = TaskId.parse(powers.id("t"));
        const taking = inbox.taking(entry.id, task);
        const next = { ...before, state: "working", task } as const;
        const change = { before, next, request: null, task };
        await settling(taking, () => withTask(request, taking, change));
        return taking.entry;
      });
    },
  });
}

/**
 * Digest that identifies a first message and its retries: message id and content, in the peer's
 * context, or for the agent if there is none. A2A 1.0, section 3.1.1: message ids are unique, and
 * an agent may detect retries by them.
 */
function firstOf({ peer, agent, context, message }: PeerSend): string {
  const where = context === undefined ? [null, agent] : [context];
  return sha256Hex(canonicalJson([peer, ...where, wordsDigest(message)]));
}

/** An inbox id that begins with the peer's message id, so that both sides can refer to the message. */
function nameOf(message: PeerMessage, place: "f" | "d"): string {
  return `${message.id.slice(0, 80)}.${place}${wordsDigest(message)}`;
}

function messageOf(peer: string, exchange: ExchangeId, message: PeerMessage) {
  return {
    // The same id with a different content is a different message.
    id: nameOf(message, "d"),
    sender: Sender.parse(`peer:${peer}`),
    senderTask: exchange,
    ...{ artifactRefs: [], requestedActions: [], requestedAuthority: [] },
  };
}

function newHead(
  sent: PeerSend,
  { id, first, entry, now }: {
    readonly id: ExchangeId;
    readonly first: string;
    readonly entry: InboxEntry;
    readonly now: number;
  },
): Omit<ExchangeHead, "context"> {
  const { peer, agent, clearance, push, metadata, message } = sent;
  return {
    ...{ id, peer, agent, clearance, state: "submitted", entry: entry.id, said: false },
    first,
    ...(metadata === undefined ? {} : { metadata }),
    // The sender already receives the answer to this message.
    pushes: push === undefined ? [] : [{ config: push, delivered: 1, attempt: 0, again: 0 }],
    ...{ messages: 0, artifacts: 0, version: 0, createdAt: now, updatedAt: now },
    bytes: { theirs: sizeOf(message), ours: 0 },
  };
}

/** The exchange after its question was answered: working again. */
export function goingOn(before: ExchangeHead): ExchangeHead {
  if (before.state !== "inputRequired" && before.state !== "authRequired") return before;
  const { status: _status, asking: _asking, answering: _answering, ...rest } = before;
  return { ...rest, state: "working", said: false };
}

const sizeOf = (message: PeerMessage): number => JSON.stringify(toJsonObject(message)).length;

function checkRoom(head: ExchangeHead, message: PeerMessage): number {
  const size = sizeOf(message);
  if (head.messages < MAX_MESSAGES && head.bytes.theirs + size <= MAX_THEIRS) return size;
  throw new Fault(
    "tooLarge",
    `Cannot send to ${head.id}: it holds ${head.messages} messages of ${head.bytes.theirs} ` +
      "characters; begin another",
  );
}

/** Maximum characters of all artifacts of one exchange. */
const MAX_OURS = 16_000_000;

/** The refusal of an operation on a finished exchange. */
export function closed(head: Pick<ExchangeHead, "id" | "state">, verb: string): Fault {
  return new Fault("conflict", `Cannot ${verb} exchange ${head.id}: it is "${head.state}"`);
}

/** Makes the interface of exchanges for tasks. */
export function makeExchangeTasks(
  { keeper, need, powers, labelOf }: {
    readonly keeper: ExchangeKeeper;
    /** Label of a task's current text. */
    labelOf(task: TaskId): Label;
    readonly powers: Pick<Powers, "now" | "token">;
    need(ask: { readonly peer?: PeerName; readonly exchange: ExchangeId }): ExchangeHead;
  },
): {
  taskOf(head: ExchangeHead): ExchangeTask;
  /** Shows an artifact; call within the exchange's turn. */
  show(before: ExchangeHead, artifact: PeerArtifact): Promise<ExchangeHead>;
} {
  const labelNow = ({ task }: ExchangeHead): Label => task === undefined ? "public" : labelOf(task);

  /** Runs a change by the exchange's task, unless the exchange is finished. */
  const working = async (
    exchange: ExchangeId,
    verb: string,
    work: (head: ExchangeHead) => Promise<unknown>,
  ): Promise<void> => {
    await keeper.turn(exchange, async () => {
      const head = need({ exchange });
      if (isOver(head.state)) throw closed(head, verb);
      await work(head);
    });
  };

  const show = async (before: ExchangeHead, artifact: PeerArtifact): Promise<ExchangeHead> => {
    const part = { kind: "artifact", artifact } as const;
    if (await keeper.has(before.id, part)) return before;
    const size = JSON.stringify(artifact).length;
    const ours = before.bytes.ours + size;
    if (before.artifacts >= MAX_ARTIFACTS || ours > MAX_OURS) {
      throw new Fault(
        "tooLarge",
        `Cannot show more to ${before.peer}: this exchange holds ${before.artifacts} artifacts ` +
          `of ${before.bytes.ours} characters`,
      );
    }
    const next = { ...before, bytes: { ...before.bytes, ours } };
    return await keeper.write({ before, next, parts: [part], note: { shown: size } });
  };

  const taskOf = ({ id: exchange, peer, clearance }: ExchangeHead): ExchangeTask =>
    Object.freeze<ExchangeTask>({
      ...{ exchange, peer, clearance },
      async files(delivered): Promise<readonly ExchangeFile[]> {
        const { history } = await keeper.whole(need({ exchange }));
        // The first message is the task's request. Files of later messages require that the message was delivered.
        return history.filter(({ role }) => role === "peer").filter((message, n) =>
          n === 0 || delivered.has(nameOf(message, "d"))
        ).flatMap(({ parts, metadata }) =>
          parts.flatMap((part) =>
            part.kind !== "bytes" ? [] : [{
              ...{ name: part.name ?? "", mediaType: part.mediaType ?? "", data: part.data },
              label: labelOfPeer(metadata),
            }]
          )
        );
      },
      ask: (question) =>
        working(exchange, "ask in", async (before) => {
          const { answering: _answering, ...rest } = goingOn(before);
          const next = { ...rest, asking: question };
          await keeper.write({ before, next, quiet: before.state === next.state });
        }),
      answer: (answering) =>
        working(exchange, "answer in", async (before) => {
          const { asking: _asking, ...rest } = goingOn(before);
          const next = { ...rest, answering };
          await keeper.write({ before, next, quiet: before.state === next.state });
        }),
      say: (text, key) =>
        working(exchange, "say something in", async (before) => {
          const status = saying({
            ...{ powers, text, id: `s${key.slice(0, 40)}` },
            label: labelNow(before),
          });
          if (before.status?.id === status.id) return;
          await keeper.write({ before, next: { ...goingOn(before), status, said: false } });
        }),
      show: (artifact) =>
        working(
          exchange,
          "show in",
          (before) =>
            show(before, {
              ...artifact,
              label: mixLabel(artifact.label ?? "public", labelNow(before)),
            }),
        ),
    });

  return Object.freeze({ taskOf, show });
}
