/** The powers of exchanges, and the interface that others use. @module */
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

/** A change of an inbox for a caller to commit, who then calls exactly one of `kept` and `dropped`. */
export interface InboxChange {
  readonly entry: InboxEntry;
  readonly duplicate: boolean;
  readonly events: readonly NewEvent[];
  readonly documents: readonly DocumentWrite[];
  kept(): void;
  dropped(): void;
}

/** The part of the inboxes that exchanges use. */
export interface ExchangeInbox {
  draft(
    message: AgentMessage,
    stamp: MessageStamp & { readonly taken?: TaskId },
  ): Promise<InboxChange>;
  taking(id: InboxId, task: TaskId): InboxChange;
  pending(task: TaskId): boolean;
  release(id: InboxId): Promise<InboxEntry>;
  dismiss(id: InboxId, why: string): Promise<InboxEntry>;
  /** Reads also settled messages. */
  read(id: InboxId): Promise<Pick<InboxEntry, "state" | "why"> | undefined>;
}

/** The parts of `openExchanges`. */
export interface ExchangeParts {
  readonly store: Pick<Store, "documents" | "document" | "peek">;
  readonly log: Pick<EventLog, "append">;
  readonly inbox: ExchangeInbox;
  readonly service: Pick<AgentService, "create" | "cancel" | "finish" | "get" | "unattended">;
  readonly powers: Pick<Powers, "now" | "id" | "token" | "after">;
  /** Whether no turn of the task is running. */
  turnOver(task: TaskId): boolean;
  /** Label of a task's current text. */
  labelOf(task: TaskId): Label;
  /** A message framed for an agent: data with its sender, never words of the operator. */
  frame(entry: InboxEntry): string;
  /** The artifacts in a task's outbox. */
  artifacts(task: TaskId): Promise<readonly Artifact[]>;
  /** The bytes of an artifact, checked against its digest. Rejects `notFound`. */
  read(artifact: Artifact): Promise<Uint8Array>;
  /** Called when deliveries may be due. */
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
  /** The label that the peer gave its message. */
  readonly label: Label;
}

/** An exchange, for the task that works on it. */
export interface ExchangeTask {
  readonly exchange: ExchangeId;
  readonly peer: PeerName;
  readonly clearance: Label;
  /** Asks the peer at the end of the turn. Rejects `conflict` if the exchange is finished. */
  ask(question: string): Promise<void>;
  /** Answers with this text alone at the end of the turn, and ends the exchange. */
  answer(text: string): Promise<void>;
  /** Sends a status text during work; a repeated `key` sends nothing. */
  say(text: string, key: string): Promise<void>;
  /** Files of the peer's first message and of its messages named in `delivered`. */
  files(delivered: ReadonlySet<string>): Promise<readonly ExchangeFile[]>;
  /** Shows an artifact to the peer; a repeated id shows nothing. Rejects `tooLarge`, `conflict`. */
  show(artifact: PeerArtifact): Promise<void>;
}

/** The exchanges of one kernel. */
export interface Exchanges extends PeerExchanges {
  /** Handles a person's release of a message: the first becomes a task, a later one waits for its turn. */
  onRelease(entry: InboxEntry): Promise<InboxEntry>;
  /** Handles a person's dismissal of the first message: rejects the exchange with this text. */
  onDismiss(entry: InboxEntry, why: string): Promise<void>;
  ofTask(task: TaskId): ExchangeTask | undefined;
  /** The task of an exchange; undefined before there is one. */
  taskOf(exchange: string): TaskId | undefined;
  /** Receives every task's events once durable. */
  saw(event: { readonly task: string; readonly kind: string; readonly body: object }): void;
  /** Implements {@link TaskRunsParts.closing}. */
  closing(task: TaskId, end: (more: Closing) => Promise<void>): Promise<boolean>;
  /** Called when no turn of the task is running and no message waits. */
  rested(task: TaskId): void;
  /** Receives the agent's text during work. */
  text(task: TaskId, text: string): void;
  /** Brings exchanges and tasks into step after a crash. */
  recover(): Promise<void>;
  /** Resolves when all steps begun so far have ended. */
  settled(): Promise<void>;
}
