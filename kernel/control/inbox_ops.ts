/** The operator's operations on inboxes. Used by operator.ts; made in kernel/main_agents.ts. @module */
import { defined } from "../core/process/defined.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type {
  AgentInbox,
  InboxEntry,
  MutedSender,
  PutOutcome,
} from "../../contracts/exchange/mod.ts";
import type { ControlRequest } from "./control_ops.ts";

type Body<Op extends ControlRequest["op"]> = Extract<ControlRequest, { op: Op }>["body"];

/** Effects of a person's decision on a message that belongs to an exchange. */
export interface ExchangeDecisions {
  /** Called instead of a release: the exchange becomes a task. */
  onRelease(entry: InboxEntry): Promise<InboxEntry>;
  /** Called after a dismissal. */
  onDismiss(entry: InboxEntry, why: string): Promise<void>;
}

/** The inboxes, settled messages included. */
export interface OperatedInbox extends AgentInbox {
  read(id: InboxEntry["id"]): Promise<InboxEntry | undefined>;
  past(query: {
    readonly box?: InboxEntry["box"];
    readonly state?: InboxEntry["state"];
  }): Promise<readonly InboxEntry[]>;
}

/** The inboxes and the exchanges. */
export interface InboxOpsParts {
  readonly inbox: OperatedInbox;
  /** The decisions on an entry; undefined where it belongs to no exchange that waits to become a task. */
  decisions(entry: InboxEntry): ExchangeDecisions | undefined;
}

/** Handlers of the control operations `inbox…`. */
export interface InboxOps {
  inbox(query: Body<"inbox">): Promise<readonly InboxEntry[]>;
  inboxShow(asked: Body<"inboxShow">): Promise<InboxEntry>;
  inboxPut(asked: Body<"inboxPut">): Promise<PutOutcome>;
  inboxRelease(asked: Body<"inboxRelease">): Promise<InboxEntry>;
  inboxDismiss(asked: Body<"inboxDismiss">): Promise<InboxEntry>;
  inboxMute(asked: Body<"inboxMute">): Promise<void>;
  inboxUnmute(asked: Body<"inboxUnmute">): Promise<void>;
  inboxMuted(): readonly MutedSender[];
}

/** UTF-16 units of a body in a list. */
const MAX_GIST = 512;

/** A message in a list; `inboxShow` returns it whole. */
function listed(entry: InboxEntry): InboxEntry {
  const { message } = entry;
  const asks = { artifactRefs: [], requestedActions: [], requestedAuthority: [] };
  return { ...entry, message: { ...message, ...asks, body: message.body.slice(0, MAX_GIST) } };
}

/** Makes the operations on inboxes. */
export function makeInboxOps(parts: InboxOpsParts): InboxOps {
  const { inbox } = parts;
  const need = async (id: InboxEntry["id"]): Promise<InboxEntry> => {
    const found = await inbox.read(id);
    if (found !== undefined) return found;
    throw new Fault("notFound", `Cannot find message "${id}": list them with "remit inbox list"`);
  };
  return Object.freeze<InboxOps>({
    inbox: async (asked) => (await inbox.past(defined(asked))).map(listed),
    inboxShow: ({ id }) => need(id),
    inboxPut: ({ message, stamp }) => inbox.put(defined(message), defined(stamp)),
    inboxRelease: async ({ id }) => {
      const entry = await need(id);
      return await parts.decisions(entry)?.onRelease(entry) ?? await inbox.release(id);
    },
    inboxDismiss: async ({ id, why }) => {
      const entry = await need(id);
      const decisions = parts.decisions(entry);
      const dismissed = await inbox.dismiss(id, why);
      await decisions?.onDismiss(entry, why);
      return dismissed;
    },
    inboxMute: ({ sender, why }) => inbox.mute(sender, why),
    inboxUnmute: ({ sender }) => inbox.unmute(sender),
    inboxMuted: () => inbox.muted(),
  });
}
