/**
 * What a peer says while a call to it is under way: each message goes through the inbox of the calling task, as any that
 * arrives, and is shown with the call's result. Bounded here, whatever its bridge lets through.
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

/** Messages of one call, and bytes of all their bodies: of questions, and of all others. */
const MAX: Readonly<Record<PeerSaid["kind"], number>> = {
  status: 24,
  question: 4,
  artifactReady: 2,
};
const BYTES = { question: 32_768, other: 20_480 } as const;
/** Different messages of one call that are told apart: more are only counted. */
const TOLD_APART = 256;

/** What {@link makePeerMessages} is handed. */
export interface PeerMessagesParts {
  /** Asked for with each call: tools are wired before inboxes. */
  inbox(): CallInbox;
  /** Messages as a model reads them: data. */
  frame(entries: readonly InboxEntry[]): string;
  /** The place of a call's intent in its task's log; undefined when it is not known. */
  intentOf(call: Pick<GrantedCall, "task" | "pid" | "callId">): number | undefined;
}

/** What is said during one call. */
export interface PeerHearing {
  /** TRUST: its bridge read what a stranger sent. */
  take(said: PeerSaid): void;
  /** The call is over: what came is shown with it. Never rejects. */
  end(): Promise<Meanwhile | undefined>;
}

/** Hears peers. */
export interface PeerMessages {
  /** `label` is how confidential what the peer knows is, at the moment it is asked. */
  hear(call: GrantedCall, peer: { readonly name: string; label(): Label }): PeerHearing;
}

/** Messages that are not shown, by why. */
interface Unshown {
  /** Put aside for a person. */
  aside: number;
  /** Taken, and kept back until a person hears their sender again. */
  back: number;
  refused: number;
  over: number;
  /** Codes of refusals. */
  readonly codes: Set<string>;
}

/** Makes it. */
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

      /** What the peer knows, and what it says of the labels of its own words. */
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
          if (seen.size < TOLD_APART) seen.add(digest);
          const which = said.kind === "question" ? "question" : "other";
          const size = new TextEncoder().encode(said.body).length;
          if (counts[said.kind] >= MAX[said.kind] || bytes[which] + size > BYTES[which]) {
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

/** Nothing of it is the peer's to choose but its words, its names for itself, and its kind. */
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

/** The peer's own id where it can be one; else one that the same words have again. */
function idOf(said: PeerSaid): string {
  const { data } = MessageId.safeParse(said.message);
  if (data !== undefined) return data;
  const { message, kind, body, artifacts } = said;
  return `remit-${sha256Hex(canonicalJson(["said", message, kind, body, artifacts])).slice(0, 40)}`;
}

/** What is not shown is said, and how a person sees it. */
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

/** Half characters have no canonical form. */
function wellFormed(said: PeerSaid): PeerSaid {
  const { message, task, body, artifacts } = said;
  return {
    ...{ ...said, message: message.toWellFormed(), body: body.toWellFormed() },
    ...(task === undefined ? {} : { task: task.toWellFormed() }),
    artifacts: artifacts.map((each) => each.toWellFormed()),
  };
}
