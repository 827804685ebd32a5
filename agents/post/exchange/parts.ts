/** What exchanges are handed, and what of them others are handed. @module */
import type { Label } from "../../../contracts/authority/colour.ts";
import type { NewEvent } from "../../../contracts/task/event.ts";
import type { ExchangeId, PeerArtifact, PeerName } from "../../../contracts/exchange/exchange.ts";
import type { PeerExchanges } from "../../../contracts/exchange/exchanges.ts";
import type { TaskId } from "../../../contracts/authority/ids.ts";
import type {
  AgentMessage,
  InboxEntry,
  InboxId,
  MessageStamp,
} from "../../../contracts/exchange/inbox.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { DocumentWrite, EventLog, Store } from "../../../contracts/task/store.ts";
import type { Artifact } from "../../../contracts/tool/workspace.ts";
import type { AgentService } from "../../service.ts";
import type { Closing } from "../../task/runs.ts";

/** A change of an inbox that another commits: exactly one of `kept` and `dropped` follows. */
export interface InboxChange {
  readonly entry: InboxEntry;
  readonly duplicate: boolean;
  readonly events: readonly NewEvent[];
  readonly documents: readonly DocumentWrite[];
  kept(): void;
  dropped(): void;
}

/** The inboxes, as exchanges use them. */
export interface ExchangeInbox {
  draft(
    message: AgentMessage,
    stamp: MessageStamp & { readonly taken?: TaskId },
  ): Promise<InboxChange>;
  taking(id: InboxId, task: TaskId): InboxChange;
  pending(task: TaskId): boolean;
  release(id: InboxId): Promise<InboxEntry>;
  dismiss(id: InboxId, why: string): Promise<InboxEntry>;
  /** Also what is settled. */
  read(id: InboxId): Promise<Pick<InboxEntry, "state" | "why"> | undefined>;
}

/** What `openExchanges` is handed. */
export interface ExchangeParts {
  readonly store: Pick<Store, "documents" | "document" | "peek">;
  readonly log: Pick<EventLog, "append">;
  readonly inbox: ExchangeInbox;
  readonly service: Pick<AgentService, "create" | "cancel" | "finish" | "get" | "unattended">;
  readonly powers: Pick<Powers, "now" | "id" | "token" | "after">;
  /** No turn of the task is under way. */
  turnOver(task: TaskId): boolean;
  /** How confidential what a task says now is. */
  labelOf(task: TaskId): Label;
  /** A message as an agent reads it: data with its sender, never words of the operator. */
  frame(entry: InboxEntry): string;
  /** What a task put in its outbox. */
  artifacts(task: TaskId): Promise<readonly Artifact[]>;
  /** The bytes of one, checked against its digest. Rejects `notFound`. */
  read(artifact: Artifact): Promise<Uint8Array>;
  /** There may be deliveries that are due. */
  due(): void;
  /** Writes a line to the kernel's own log. */
  note(line: string): void;
}

/** A file that came with a message of a peer. */
export interface ExchangeFile {
  readonly name: string;
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
  /** As confidential as the peer said that its message is. */
  readonly label: Label;
}

/** An exchange as the task that works for it reaches it. */
export interface ExchangeTask {
  readonly exchange: ExchangeId;
  readonly peer: PeerName;
  readonly clearance: Label;
  /** Its turn's end will ask this. Rejects `conflict` when nothing is under way. */
  ask(question: string): Promise<void>;
  /** Its turn's end will answer with this alone, and end the exchange. */
  answer(text: string): Promise<void>;
  /** Says this of itself while it works. The same `key` again says nothing twice. */
  say(text: string, key: string): Promise<void>;
  /** Files of the peer's messages: those that the inbox delivered as `delivered` names them, and those of the first. */
  files(delivered: ReadonlySet<string>): Promise<readonly ExchangeFile[]>;
  /** Shows an artifact. The same id again shows nothing twice. Rejects `tooLarge`, `conflict`. */
  show(artifact: PeerArtifact): Promise<void>;
}

/** The exchanges of one kernel. */
export interface Exchanges extends PeerExchanges {
  /** A person lets a message in: the first becomes a task, a later one waits for its turn. */
  onRelease(entry: InboxEntry): Promise<InboxEntry>;
  /** A person does not let the first in: it is rejected in these words. */
  onDismiss(entry: InboxEntry, why: string): Promise<void>;
  ofTask(task: TaskId): ExchangeTask | undefined;
  /** Whose task it is; undefined before there is one. */
  taskOf(exchange: string): TaskId | undefined;
  /** An event of any task, once it is durable. */
  saw(event: { readonly task: string; readonly kind: string; readonly body: object }): void;
  /** As a service asks it: {@link TaskRunsParts.closing}. */
  closing(task: TaskId, end: (more: Closing) => Promise<void>): Promise<boolean>;
  /** No turn of the task is under way, and nothing waits for it. */
  rested(task: TaskId): void;
  /** Text of the agent while it works. */
  text(task: TaskId, text: string): void;
  /** Brings exchanges and tasks into step after a crash. */
  recover(): Promise<void>;
  /** Resolves when every step that was begun is over. */
  settled(): Promise<void>;
}
