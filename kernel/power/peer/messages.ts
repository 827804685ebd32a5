/**
 * Messages of a peer during a call to it: each passes the inbox of the calling task like every incoming message, and is
 * shown with the call's result. The number is limited here, whatever the bridge passes on. Used by
 * kernel/power/mcp/mcp_tools.ts; made in kernel/main_mcp.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { type Label, mixLabel } from "../../../contracts/authority/colour.ts";
import type { PeerSaid } from "../../../contracts/exchange/exchange.ts";
import {
  type AgentMessage,
  type CallInbox,
  type CallPlace,
  type InboxEntry,
  MessageId,
  Sender,
} from "../../../contracts/exchange/inbox.ts";
import type { GrantedCall, Meanwhile } from "../../../contracts/task/power.ts";
import { canonicalJson } from "../../../port/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";

/** Messages of one call, and bytes of their bodies: for questions, and for all others. */
const MAX_MESSAGES: Readonly<Record<PeerSaid["kind"], number>> = {
  status: 24,
  question: 4,
  artifactReady: 2,
};
const MAX_BYTES = { question: 32_768, other: 20_480 } as const;
/** Distinct messages of one call that are recognised; repetitions of later ones count again. */
const MAX_DISTINCT = 256;

/** The inbox, the framing and the intents of calls. */
export interface PeerMessagesParts {
  /** Fetched at each call, because tools are wired before inboxes. */
  inbox(): CallInbox;
  /** Messages framed as data for a model. */
  frame(entries: readonly InboxEntry[]): string;
  /** The position of a call's intent in its task's log; undefined where unknown. */
  intentOf(call: Pick<GrantedCall, "task" | "pid" | "callId">): number | undefined;
}

/** The listener during one call. */
export interface PeerHearing {
  /** Takes a message. TRUST: from a bridge that read a stranger's bytes. */
  take(said: PeerSaid): void;
  /** Ends the call; resolves with the messages to show with it. Never rejects. */
  end(): Promise<Meanwhile | undefined>;
}

/** Listens to peers. */
export interface PeerMessages {
  /** Starts listening for one call. `label` returns the label of what the peer knows at that moment. */
  hear(call: GrantedCall, peer: { readonly name: string; label(): Label }): PeerHearing;
}

/** Counts of messages that are not shown, by reason. */
interface Unshown {
  /** Set aside for a person. */
  aside: number;
  /** Accepted, and held until a person unmutes the sender. */
  back: number;
  refused: number;
  over: number;
  /** Codes of refusals. */
  readonly codes: Set<string>;
}

/** Makes the listeners of all peers. */
export function makePeerMessages(parts: PeerMessagesParts): PeerMessages {
  return Object.freeze<PeerMessages>({
    hear(call, peer): PeerHearing {
      const { task, pid, callId } = call;
      const sender = Sender.parse(`peer:${peer.name}`);
      const place: CallPlace = { task, call: `${pid}/${callId}`, sender };
      const inbox = parts.inbox();
      const counts: Record<PeerSaid["kind"], number> = { status: 0, question: 0, artifactReady: 0 };
      const bytes = { question: 0, other: 0 };
      const unshown: Unshown = { aside: 0, back: 0, refused: 0, over: 0, codes: new Set() };
      const seen = new Set<string>();
      let last: Promise<void> = Promise.resolve();
      let over = false;
      inbox.begin(place);

      /** The highest label that the peer gave its own messages. */
      let theirs: Label = "public";
      const label = (): Label => mixLabel(peer.label(), theirs);
      const put = async (message: AgentMessage): Promise<void> => {
        try {
          const { entry, duplicate } = await inbox.put(message, {
            ...{ box: `task:${task}`, colour: "RED", label: label(), call: place.call },
          });
          if (duplicate) return;
          if (entry.state === "queued") unshown.back += 1;
          else unshown.aside += 1;
        } catch (error) {
          unshown.refused += 1;
          unshown.codes.add(error instanceof Fault ? error.code : "unavailable");
        }
      };

      return Object.freeze<PeerHearing>({
        take(given): void {
          if (over) return;
          const said = wellFormed(given);
          const digest = sha256Hex(canonicalJson([said.message, said.kind, said.body]));
          if (seen.has(digest)) return;
          if (seen.size < MAX_DISTINCT) seen.add(digest);
          const which = said.kind === "question" ? "question" : "other";
          const size = new TextEncoder().encode(said.body).length;
          if (
            counts[said.kind] >= MAX_MESSAGES[said.kind] || bytes[which] + size > MAX_BYTES[which]
          ) {
            unshown.over += 1;
            return;
          }
          theirs = mixLabel(theirs, said.label ?? "public");
          counts[said.kind] += 1;
          bytes[which] += size;
          const message = messageOf(said, { call, sender, parent: parts.intentOf(call) });
          last = last.then(() => put(message));
        },
        async end(): Promise<Meanwhile | undefined> {
          over = true;
          await last;
          const { entries, ...marking } = inbox.end(place) ?? NOTHING;
          unshown.back -= entries.filter((each) => each.call === place.call).length;
          const note = noteOf(sender, unshown);
          if (entries.length === 0 && note === "") return undefined;
          const known = label();
          const content = [...entries.length === 0 ? [] : [parts.frame(entries)], note];
          return {
            ...marking,
            content: content.filter((each) => each !== "").join("\n"),
            ...{ colour: "RED", label: known },
            sources: [{ source: `peer ${peer.name}`, colour: "RED", label: known }],
          };
        },
      });
    },
  });
}

const nothing = (): void => undefined;
const NOTHING = {
  entries: [],
  events: [],
  documents: [],
  kept: nothing,
  dropped: nothing,
} as const;

/** The message for the inbox. The peer chooses only the text, its own ids, and the kind. */
function messageOf(
  said: PeerSaid,
  { call, sender, parent }: {
    readonly call: GrantedCall;
    readonly sender: Sender;
    readonly parent: number | undefined;
  },
): AgentMessage {
  return {
    id: idOf(said),
    sender,
    ...(said.task === undefined || said.task === "" ? {} : { senderTask: said.task }),
    recipientTask: call.task,
    kind: said.kind,
    ...(parent === undefined ? {} : { causalParent: `${call.task}#${parent}` }),
    body: said.body,
    artifactRefs: said.artifacts,
    ...{ requestedActions: [], requestedAuthority: [] },
  };
}

/** The peer's own id where valid, else an id derived from the content. */
function idOf(said: PeerSaid): string {
  const { data } = MessageId.safeParse(said.message);
  if (data !== undefined) return data;
  const { message, kind, body, artifacts } = said;
  return `remit-${sha256Hex(canonicalJson(["said", message, kind, body, artifacts])).slice(0, 40)}`;
}

/** Reports messages that are not shown, and where a person sees them. */
function noteOf(sender: Sender, { aside, back, refused, over, codes }: Unshown): string {
  const why = [
    ...aside === 0 ? [] : [`${aside} put aside for a person ("remit inbox list")`],
    ...back <= 0 ? [] : [`${back} kept back, because it is muted`],
    ...refused === 0 ? [] : [`${refused} refused (${[...codes].map(reasonOf).join(", ")})`],
    ...over === 0 ? [] : [`${over} more than one call may bring`],
  ];
  if (why.length === 0) return "";
  return `[Remit: of what ${sender} said meanwhile, these are not shown: ${why.join("; ")}]`;
}

function reasonOf(code: string): string {
  if (code === "denied") return "it is muted";
  return code === "rateLimited" ? "too many" : code;
}

/** Replaces lone surrogates, which have no canonical form. */
function wellFormed(said: PeerSaid): PeerSaid {
  const { message, task, body, artifacts } = said;
  return {
    ...{ ...said, message: message.toWellFormed(), body: body.toWellFormed() },
    ...(task === undefined ? {} : { task: task.toWellFormed() }),
    artifacts: artifacts.map((each) => each.toWellFormed()),
  };
}
