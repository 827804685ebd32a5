/** A message as it comes in, and what the log says of it. @module */
import {
  AgentMessage,
  Box,
  type EntryState,
  Fault,
  type InboxEntry,
  type MessageStamp,
  type NewEvent,
  type TaskId,
  toJson,
} from "../../contracts/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { isWaiting } from "./rows.ts";

/** Bytes of a whole message, as canonical JSON. */
const MOST_BYTES = 524_288;

/** Trusts a message and its stamp, or throws `invalidInput`, `tooLarge`. */
export function parseMessage(
  input: AgentMessage,
  stamp: MessageStamp,
): { readonly message: AgentMessage; readonly bytes: number } {
  const box = Box.safeParse(stamp.box);
  if (!box.success) throw new Fault("invalidInput", "Cannot take the message: its box is none");
  const result = AgentMessage.safeParse(input);
  if (!result.success) {
    const issue = result.error.issues[0];
    const code = issue?.code === "too_big" ? "tooLarge" : "invalidInput";
    throw new Fault(
      code,
      `Cannot take the message: ${issue?.path.join(".") || "it"}: ${issue?.message}`,
    );
  }
  const bytes = new TextEncoder().encode(canonicalJson(toJson(result.data))).length;
  if (bytes > MOST_BYTES) {
    throw new Fault("tooLarge", `Cannot take the message: it is over ${MOST_BYTES} bytes`);
  }
  return { message: result.data, bytes };
}

/** How a message stands when it comes in. */
export function entryOf(
  message: AgentMessage,
  stamp: MessageStamp & { readonly taken?: TaskId },
  made: Pick<InboxEntry, "id" | "n" | "bytes"> & {
    readonly aside: string | undefined;
    readonly now: number;
  },
): InboxEntry {
  const { box, colour, label, exchange, call, taken } = stamp;
  const { aside, now, ...rest } = made;
  const asks = message.sender !== "host" &&
    (message.kind === "approvalRequest" || message.requestedAuthority.length > 0);
  const over = (message.expiresAt ?? Infinity) <= now;
  const state: EntryState = over
    ? "expired"
    : aside !== undefined
    ? "quarantined"
    : stamp.held === true || asks
    ? "held"
    : taken !== undefined
    ? "delivered"
    : "queued";
  const why = state === "quarantined"
    ? aside
    : state !== "held"
    ? undefined
    : stamp.held === true
    ? "a person decides whether it is taken"
    : "it asks for what only a person can give";
  return {
    ...{ ...rest, box, message, colour, label, state, receivedAt: now },
    ...(why === undefined ? {} : { why }),
    ...(exchange === undefined ? {} : { exchange }),
    ...(call === undefined ? {} : { call }),
    ...(state === "delivered" && taken !== undefined ? { task: taken } : {}),
    ...(isWaiting(state) ? {} : { settledAt: now }),
  };
}

/** What the log says of a change: names, states and counts. */
export function eventOf(entry: InboxEntry): NewEvent {
  const { id, box, n, state, colour, label, bytes, exchange, task, message } = entry;
  return {
    kind: "inbox",
    body: {
      ...{ entry: id, box, n, state, colour, label, bytes },
      ...{ sender: message.sender, message: message.kind },
      ...(exchange === undefined ? {} : { exchange }),
      ...(task === undefined ? {} : { task }),
    },
  };
}

/** A message that waited, as it stands from now on. */
export function settledAs(
  entry: InboxEntry,
  state: EntryState,
  extra: { readonly now: number; readonly why?: string; readonly task?: TaskId },
): InboxEntry {
  const { why: _why, ...rest } = entry;
  const { now, ...more } = extra;
  return { ...rest, state, ...more, ...(isWaiting(state) ? {} : { settledAt: now }) };
}
