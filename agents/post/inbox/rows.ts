/** Messages as the store holds them: what is known of one, and apart from it what it says. @module */
import { Digest } from "../../../contracts/authority/ids.ts";
import {
  AgentMessage,
  EntryState,
  InboxEntry,
  InboxId,
} from "../../../contracts/exchange/inbox.ts";
import { toJson, toJsonObject } from "../../../contracts/base/json.ts";
import type { DocumentRow, DocumentWrite, Store } from "../../../contracts/task/mod.ts";
import { canonicalJson } from "../../../port/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";

/** Kinds of documents: what is known of a message, and what it says, which can be erased alone. */
export const ENTRY_KIND = "inbox";
export const BODY_KIND = "inboxBody";
/** Under what every message that waits lies: a kernel that starts loads these and no others. */
export const WAITING = "waiting";
/** Salt and digest of a message whose words are erased: nothing can be found out by them. */
export const ERASED: Digest = Digest.parse("0".repeat(64));
const DAY = 86_400_000;
const ID_DIGITS = 12;

/** A message and its place in the store. */
export interface Kept {
  readonly entry: InboxEntry;
  /** Version of its document; 0 before it is written. */
  readonly version: number;
  /** Version of the document that has its words. */
  readonly bodyVersion: number;
  /** SHA-256 over `salt` and the message: tells a replay from another message of the same id. */
  readonly salt: Digest;
  readonly digest: Digest;
}

/** Tells whether a message still waits for a turn or a person. */
export function isWaiting(state: EntryState): boolean {
  return state === "queued" || state === "held" || state === "quarantined";
}

/** Under what the messages that were settled on a day lie. */
export function settledOn(at: number): string {
  return `d${Math.floor(at / DAY)}`;
}

/**
 * Digest of what a message says and where it goes. A call is the kernel's word for what a message follows from: the same
 * one may be heard during the next call, too.
 */
export function digestOfMessage(
  salt: string,
  { box, message, call }: Pick<InboxEntry, "box" | "message" | "call">,
): Digest {
  const { causalParent: _call, ...rest } = message;
  return sha256Hex(
    salt,
    "\0",
    box,
    "\0",
    canonicalJson(toJson(call === undefined ? message : rest)),
  );
}

/** What a message's id is unique in: its sender's task, else the recipient's, else the box. */
export function scopeOf(message: AgentMessage, box: string): string {
  return message.senderTask ?? message.recipientTask ?? box;
}

/** The id of a sender's message in the window that `at` lies in: who sends it again names the same. */
export function derivedId(
  of: { readonly sender: string; readonly scope: string; readonly id: string },
  window: number,
): InboxId {
  const digest = sha256Hex(canonicalJson(["inbox", of.sender, of.scope, of.id, window]));
  const digits = BigInt(`0x${digest}`).toString(36).padStart(ID_DIGITS, "0");
  return InboxId.parse(`m${digits.slice(-ID_DIGITS)}`);
}

/** Writes what is known of a message. `version` of `kept` is the one that it replaces. */
export function entryWrite({ entry, version, salt, digest }: Kept): DocumentWrite {
  const { id, message, ...rest } = entry;
  const task = isWaiting(entry.state) ? WAITING : settledOn(entry.settledAt ?? entry.receivedAt);
  return {
    ...{ kind: ENTRY_KIND, id, task, expect: version },
    body: { ...toJsonObject(rest), sender: message.sender, message: message.kind, salt, digest },
  };
}

/** Writes what a message says; `undefined` erases it. It belongs to its task, else to its box. */
export function bodyWrite(
  entry: Pick<InboxEntry, "id" | "box" | "task">,
  message: AgentMessage | undefined,
  expect: number,
): DocumentWrite {
  return {
    ...{ kind: BODY_KIND, id: entry.id, task: ownerOf(entry), expect },
    body: message === undefined ? {} : { message: toJson(message) },
  };
}

/** Whose purge takes a message: its task's, else its box's. */
export function ownerOf({ task, box }: Pick<InboxEntry, "task" | "box">): string {
  return task ?? (box.startsWith("task:") ? box.slice("task:".length) : box);
}

/** What is known of a message whose words are erased. */
function wordless(row: DocumentRow): unknown {
  return {
    id: row.id,
    sender: row.body["sender"],
    kind: row.body["message"],
    body: "",
    artifactRefs: [],
    requestedActions: [],
    requestedAuthority: [],
  };
}

/** Reads a message back, with its words unless they are erased; undefined for a row that is none. */
export async function readKept(
  store: Pick<Store, "document">,
  row: DocumentRow,
): Promise<Kept | undefined> {
  const said = await store.document(BODY_KIND, row.id);
  const words = AgentMessage.safeParse(said?.body["message"]);
  const { sender: _sender, message: _kind, salt, digest, ...rest } = row.body;
  const entry = InboxEntry.safeParse({
    ...rest,
    id: row.id,
    message: words.success ? words.data : wordless(row),
  });
  const [salted, digested] = [Digest.safeParse(salt), Digest.safeParse(digest)];
  if (!entry.success || !salted.success || !digested.success) return undefined;
  return {
    entry: entry.data,
    version: row.version,
    bodyVersion: said?.version ?? 0,
    salt: salted.data,
    digest: digested.data,
  };
}

/** A message without its words: what memory keeps of one that is settled. */
export function headOf(entry: InboxEntry): InboxEntry {
  const { id, sender, kind } = entry.message;
  return {
    ...entry,
    message: {
      ...{ id, sender, kind, body: "" },
      ...{ artifactRefs: [], requestedActions: [], requestedAuthority: [] },
    },
  };
}
