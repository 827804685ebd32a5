/** An agent's view of its inbox: numbered messages, parsed once. Used by mail.ts and post.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { TaskId } from "../../../contracts/authority/ids.ts";
import type { Box, InboxEntry, InboxId } from "../../../contracts/exchange/inbox.ts";
import { type Json, type JsonObject, toJson } from "../../../contracts/base/json.ts";
import { answerBox, type Mail, mailIn, type Reference } from "../../../contracts/exchange/mail.ts";
import { decodeXJson } from "../../../port/xjson.ts";
import type { MailTool } from "./descriptors.ts";
import { whyNotHeld, wordsOf } from "./name_tools.ts";
import { parsePath, withNamed } from "./names.ts";
import {
  type MailAct,
  type MailInbox,
  type MailParts,
  offerOf,
  type Said,
  textOf,
} from "./tool.ts";

/** A message that the agent may read. */
export interface Letter {
  readonly entry: InboxEntry;
  /** Undefined for a message that is not in Remit's mail format; then the body is plain text. */
  readonly mail: Mail | undefined;
}

/** An agent's letters. */
export interface Letters {
  /** Reads the inbox; oldest first, without dismissed letters. */
  look(): Promise<readonly Letter[]>;
  /** A letter of the last `look`, by number. @throws Fault `notFound`, `invalidArguments` */
  numbered(given: JsonObject[string] | undefined): Letter;
  /** Records that the agent dismissed messages. */
  dismissed(ids: readonly InboxId[]): void;
}

/** Maximum number of messages listed at once. */
const MAX_LETTERS = 200;

/** An agent's letters; messages that wait for a person's decision are excluded. */
export function makeLetters(
  { task, agent, peer, inbox, heard }: Pick<MailParts, "task" | "agent" | "peer" | "heard"> & {
    inbox(): Pick<MailInbox, "past">;
  },
): Letters {
  const boxes: readonly Box[] = [`task:${task}`, `agent:${agent}`];
  const seen = new Map<number, Letter>();
  const aside = new Set<InboxId>();
  // INVARIANT: a task that works for a peer reads no other mail, which it could repeat (test: "what alice sent is no letter of a task of mallory's").
  const mayRead = ({ box, message }: InboxEntry): boolean =>
    peer === undefined || box === `task:${task}` || message.sender === peer;

  return Object.freeze<Letters>({
    async look(): Promise<readonly Letter[]> {
      const found = await Promise.all(
        boxes.map((box) => inbox().past({ box, limit: MAX_LETTERS })),
      );
      // Messages that came during a call are shown with that call's result first.
      const entries = found.flat().filter(mayRead).filter(({ id, state, message, call }) =>
        (state === "delivered" || (state === "queued" && call === undefined)) && !aside.has(id) &&
        // Skip the task's own messages.
        !(message.sender === `agent:${agent}` && message.senderTask === task)
      ).sort((a, b) => a.n - b.n);
      const letters = entries.map((entry): Letter => ({ entry, mail: mailIn(entry.message) }));
      seen.clear();
      for (const letter of letters) {
        seen.set(letter.entry.n, letter);
        const from = TaskId.safeParse(letter.entry.message.senderTask);
        if (from.success && letter.entry.message.sender.startsWith("agent:")) heard(from.data);
      }
      return letters;
    },
    numbered(given): Letter {
      const value = decodeXJson(given ?? null);
      const letter = seen.get(Number(value));
      if (letter !== undefined && !aside.has(letter.entry.id)) return letter;
      throw new Fault(
        "notFound",
        `Cannot find message ${JSON.stringify(given)}: list_messages shows those there are`,
      );
    },
    dismissed: (ids) => ids.forEach((id) => aside.add(id)),
  });
}

/** A message as `list_messages` shows it. */
export function letterView({ entry, mail }: Letter): Json {
  const { n, message, colour, receivedAt } = entry;
  const head = {
    number: n,
    from: message.sender,
    date: new Date(receivedAt).toISOString(),
    colour,
  };
  if (mail === undefined) return toJson({ ...head, type: "text", strings: [message.body] });
  switch (mail.type) {
    case "package": {
      const names = mail.edges.map(({ name }) => name);
      return toJson({
        ...head,
        type: mail.type,
        strings: mail.strings,
        names,
        are: edgeWords(mail),
      });
    }
    case "resolution":
      return toJson({ ...head, ...mail, edges: undefined, are: edgeWords(mail) });
    default:
      return toJson({ ...head, ...mail });
  }
}

function edgeWords({ edges }: Extract<Mail, { type: "package" | "resolution" }>): object {
  return Object.fromEntries(edges.map(({ name, reference }) => [name, wordsOf(reference)]));
}

/** The implicit edge of every message that refers to its sender. */
export const FROM = "FROM";

/** The box for an answer. @throws Fault `refused` for a peer, which other tools answer */
export function answering({ message }: InboxEntry): Box {
  const box = answerBox(message);
  if (box !== undefined) return box;
  throw new Fault("refused", `Cannot send to ${message.sender}: it is no agent of this kernel`);
}

// `adopt`: gives a name to something that a message carries; a capability is derived and never
// exceeds the offer.

export function adoptTools(
  parts: MailParts,
  letters: Letters,
): Readonly<Partial<Record<MailTool, MailAct>>> {
  const { names, leases, offers } = parts;

  const carried = (letter: Letter, edge: string): Reference => {
    const { entry, mail } = letter;
    if (edge === FROM) return { kind: "agent", box: answering(entry) };
    const edges = mail?.type === "package" || mail?.type === "resolution" ? mail.edges : [];
    const found = edges.find(({ name }) => name === edge);
    if (found !== undefined) return found.reference;
    throw new Fault(
      "notFound",
      `Cannot adopt "${edge}" of message ${entry.n}: it carries ${
        edges.map(({ name }) => `"${name}"`).join(", ") || "nothing"
      }`,
    );
  };

  return {
    adopt: {
      effect: "stage",
      resolve(args) {
        const letter = letters.numbered(args["messageNumber"]);
        const reference = carried(letter, textOf(args, "edgeName"));
        const { colour, label } = letter.entry;
        const from = letter.entry.message.sender;
        return {
          // A transfer of authority always needs consent.
          effect: reference.kind === "lease" ? "mutateLocal" : "stage",
          ...{ colour, label },
          summary: `adopt ${wordsOf(reference)}, from ${from}`.slice(0, 1_000),
        };
      },
      async run(call): Promise<Said> {
        const { args, process, resolved: { colour = "RED", label = "internal" } } = call;
        const letter = letters.numbered(args["messageNumber"]);
        const edge = textOf(args, "edgeName"), path = parsePath(args["petName"]);
        const reference = carried(letter, edge);
        if (reference.kind === "tool") {
          const why = whyNotHeld(parts, reference, process);
          if (why !== undefined) throw new Fault("refused", `Cannot adopt "${edge}": ${why}`);
        }
        if (reference.kind === "lease") {
          const parent = offers.get(offerOf(letter.entry.id, edge));
          const held = parent === undefined ? undefined : leases.get(parent);
          if (
            held === undefined || !leases.alive(held.id) ||
            !parts.covers(held.scope, reference.scope)
          ) {
            throw new Fault(
              "refused",
              `Cannot adopt "${edge}": its sender does not hold ${
                wordsOf(reference)
              } now; ask for it anew`,
            );
          }
          const { scope } = reference, { expiresAt } = held;
          const reason = `adopted from ${letter.entry.message.sender}`;
          await leases.derive(held.id, { pid: process.pid, scope, expiresAt, reason });
        }
        await names.change({ colour, label }, (now) => withNamed(now, path, reference));
        return { content: `"${path.join("/")}" is now ${wordsOf(reference)}` };
      },
    },
  };
}
