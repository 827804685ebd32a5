/** Inboxes over a real store and log, for measurements. @module */
import { openInbox } from "../../agents/mod.ts";
import { LOG_POWERS, makeSigner, openLog } from "../../broker/audit/mod.ts";
import { SessionId, TaskId } from "../../contracts/authority/mod.ts";
import {
  type AgentInbox,
  type AgentMessage,
  Box,
  type InboxEntry,
  type InboxId,
  Sender,
} from "../../contracts/exchange/mod.ts";
import type { NewEvent, Store } from "../../contracts/task/mod.ts";
import { openSqliteStore } from "../../store/sqlite/mod.ts";

/** The task whose box is filled. */
const TASK = TaskId.parse("tbench0000000");

/** What is measured. */
export interface InboxWorld {
  readonly store: Store;
  readonly inbox: AgentInbox;
  /** Puts a message of `bytes`; each has an id of its own. */
  put(bytes: number): Promise<InboxEntry>;
  /** Marks messages as shown, as a turn does. */
  deliver(ids: readonly InboxId[]): Promise<void>;
  close(): Promise<void>;
}

let ids = 0;

/** A message of a peer, with JSON of a schema that is checked. */
function messageOf(bytes: number): AgentMessage {
  ids += 1;
  return {
    ...{ id: `bench-${ids}`, sender: Sender.parse("webhook:bench"), kind: "resourceEvent" },
    ...{ schema: "urn:bench", body: JSON.stringify({ n: ids, text: "x".repeat(bytes) }) },
    ...{ artifactRefs: [], requestedActions: [], requestedAuthority: [] },
  };
}

/** Opens one over a fresh store in `dir`. */
export async function openInboxWorld(dir: string): Promise<InboxWorld> {
  const store = openSqliteStore({ path: `${dir}/inbox${crypto.randomUUID()}.db` });
  const log = await openLog({ store, signer: makeSigner(LOG_POWERS.random(32)), ...LOG_POWERS });
  const token = (): string => LOG_POWERS.random(16).toHex();
  const most = Number.MAX_SAFE_INTEGER;
  const inbox = await openInbox({
    ...{ store, log },
    powers: { now: Date.now, id: (prefix) => prefix + token().slice(0, 12), token },
    task: () => ({ status: "open", session: SessionId.parse("sbench0000000"), purged: false }),
    quotas: { perSender: most, perBox: most, perMinute: most, queuedBytes: most },
  });
  const stamp = { box: Box.parse(`task:${TASK}`), colour: "RED", label: "public" } as const;
  return {
    ...{ store, inbox },
    put: async (bytes) => (await inbox.put(messageOf(bytes), stamp)).entry,
    async deliver(some): Promise<void> {
      const marking = inbox.delivering(some, TASK);
      const shown: NewEvent = { kind: "message", body: { role: "user", inbox: [...some] } };
      await log.append(TASK, [shown, ...marking.events], marking.documents);
      marking.kept();
    },
    close: () => store.close(),
  };
}
