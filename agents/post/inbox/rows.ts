/** Messages in the store: the entry, and the text in a separate document. @module */
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

/** Document kinds: a message's entry, and its text, which can be erased separately. */
export const ENTRY_KIND = "inbox";
export const BODY_KIND = "inboxBody";
/** `task` of all waiting messages' documents: a starting kernel loads only these. */
export const WAITING = "waiting";
/** Salt and digest of an erased message, which reveal nothing. */
export const ERASED: Digest = Digest.parse("0".repeat(64));
const DAY = 86_400_000;
const ID_DIGITS = 12;

/** A message and its place in the store. */
export interface Kept {
  readonly entry: InboxEntry;
  /** Version of its document; 0 before it is written. */
  readonly version: number;
  /** Version of the document with its text. */
  readonly bodyVersion: number;
  /** SHA-256 over `salt` and the message: distinguishes a replay from a different message with the same id. */
  readonly salt: Digest;
  readonly digest: Digest;
}

/** Whether a message waits for a turn or a person. */
export function isWaiting(state: EntryState): boolean {
  return state === "queued" || state === "held" || state === "quarantined";
}

/** `task` of the documents of messages settled on a day. */
export function settledOn(at: number): string {
  return `d${Math.floor(at / DAY)}`;
}

/**
 * Digest of a message's content and recipient. During calls the causal parent, which the kernel
 * sets, is excluded: the same message may arrive during the next call again.
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

/** Scope in which a message's id is unique: its sender's task, else the recipient's, else the box. */
export function scopeOf(message: AgentMessage, box: string): string {
  return message.senderTask ?? message.recipientTask ?? box;
}

/** The inbox id of a sender's message in a time window; a retry has the same id. */
export function derivedId(
  of: { readonly sender: string; readonly scope: string; readonly id: string },
  window: number,
): InboxId {
  const digest = sha256Hex(canonicalJson(["inbox", of.sender, of.scope, of.id, window]));
  const digits = BigInt(`0x${digest}`).toString(36).padStart(ID_DIGITS, "0");
  return InboxId.parse(`m${digits.slice(-ID_DIGITS)}`);
}

/** The write of a message's entry over `version`. */
export function entryWrite({ entry, version, salt, digest }: Kept): DocumentWrite {
  const { id, message, ...rest } = entry;
  const task = isWaiting(entry.state) ? WAITING : settledOn(entry.settledAt ?? entry.receivedAt);
  return {
    ...{ kind: ENTRY_KIND, id, task, expect: version },
    body: { ...toJsonObject(rest), sender: message.sender, message: message.kind, salt, digest },
  };
}

/** The write of a message's text; `undefined` erases it. */
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

/** The owner whose purge erases a message: its task, else its box. */
export function ownerOf({ task, box }: Pick<InboxEntry, "task" | "box">): string {
  return task ?? (box.startsWith("task:") ? box.slice("task:".length) : box);
}

/** The message of an entry whose text is erased. */
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

/** Parses a stored message, with its text unless erased; undefined for an invalid row. */
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

/** A message without its text, as memory keeps settled ones. */
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
