/** `inbox …`: lists messages of agents, peers and programs, and carries out a person's decisions on them. @module */
import { TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import {
  Box,
  type EntryState,
  EntryState as AnyState,
  InboxEntry,
  InboxId,
  Sender,
} from "../../contracts/exchange/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  commandText,
  idOf,
  ingressOf,
  printJson,
  printLines,
  recordOf,
  withKernel,
} from "../command.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { lendApproved } from "../../bridges/mcp/registry/handover.ts";
import { readyAgain } from "../model/ready.ts";
import { flag, oneOf } from "../arguments/parse_arguments.ts";
import { readPast } from "../run/run_task.ts";
import { tableLines } from "../terminal/table.ts";
import { spanText } from "../terminal/span.ts";
import { entryLines, gistOf } from "./inbox_words.ts";
import { registryOf } from "../mcp/work.ts";

const WAITING: readonly EntryState[] = ["queued", "held", "quarantined"];

/** The messages that the flags select. Throws `invalidInput` for a malformed inbox. */
async function entriesOf(command: Command, link: KernelLink): Promise<readonly InboxEntry[]> {
  const state = oneOf(command.parsed, "where", [...AnyState.options, "all"]);
  const box = flag(command.parsed, "box");
  const of = box === undefined ? {} : { box: idOf(Box, box, "inbox") };
  const states = state === undefined ? WAITING : state === "all" ? [undefined] : [state];
  const found: InboxEntry[] = [];
  for (const each of states) {
    const answer = await link.ask("inbox", {
      ...of,
      ...(each === undefined ? {} : { state: each }),
    });
    found.push(...InboxEntry.array().parse(answer));
  }
  return found.sort((a, b) => a.n - b.n);
}

/** `inbox list`. */
export async function inboxList(command: Command): Promise<number> {
  const { screen, environment } = command.powers;
  return await withKernel(command, async (link) => {
    const entries = await entriesOf(command, link);
    if (command.json) return printJson(command, toJson(entries));
    const now = environment.now();
    const rows = entries.map((entry) => [
      entry.id,
      entry.state,
      cell(entry.message.sender),
      cell(entry.box),
      entry.message.kind,
      spanText(now - entry.receivedAt),
      gistOf(entry),
    ]);
    const heads = ["MESSAGE", "STATE", "FROM", "TO", "KIND", "AGE", "WHAT"];
    printLines(command, tableLines(heads, rows, screen.width, "no message"));
    const held = entries.some(({ state }) => state === "held" || state === "quarantined");
    if (held) {
      screen.say(screen.paint.dim(
        `look with: ${commandText(command, "inbox show MESSAGE")}; let it through with: ${
          commandText(command, "inbox release MESSAGE")
        }`,
      ));
    }
    for (const muted of await mutedOf(link)) {
      screen.say(`muted: ${cell(muted["sender"])}  ${cell(muted["why"])}`);
    }
    return EXIT.success;
  });
}

async function mutedOf(link: KernelLink): Promise<readonly Readonly<Record<string, Json>>[]> {
  const answer = await link.ask("inboxMuted", null);
  return Array.isArray(answer) ? answer.map((each) => recordOf(each)) : [];
}

const entryId = (command: Command): InboxId =>
  idOf(InboxId, command.parsed.args[0] ?? "", "message");

const showOf = async (link: KernelLink, id: InboxId): Promise<InboxEntry> =>
  InboxEntry.parse(await link.ask("inboxShow", { id }));

/** `inbox show ID`. */
export async function inboxShow(command: Command): Promise<number> {
  const entry = await askKernel(command, "inboxShow", { id: entryId(command) });
  return command.json
    ? printJson(command, entry)
    : printLines(command, entryLines(InboxEntry.parse(entry), command.powers.environment.now()));
}

/** Lends the model's key to the kernel for a task that is about to resume, perhaps in another kernel than before. */
async function readyFor(
  command: Command<Basic | "mcpStore" | "models">,
  link: KernelLink,
  box: string,
): Promise<void> {
  await lendApproved(registryOf(command), link);
  const task = TaskId.safeParse(box.slice("task:".length));
  if (!box.startsWith("task:") || !task.success) return;
  await readyAgain(command, link, await readPast(link, task.data));
}

function printEntry(command: Command, entry: InboxEntry, words: string): number {
  return command.json
    ? printJson(command, toJson(entry))
    : printLines(command, [`${entry.id}  ${words}`]);
}

/** `inbox release ID`. */
export async function inboxRelease(
  command: Command<Basic | "mcpStore" | "models">,
): Promise<number> {
  return await withKernel(command, async (link) => {
    const id = entryId(command);
    await readyFor(command, link, (await showOf(link, id)).box);
    const entry = InboxEntry.parse(await link.ask("inboxRelease", { id }));
    const words = entry.task === undefined
      ? "waits for its task's next turn"
      : `is task ${entry.task}`;
    return printEntry(command, entry, `released: it ${words}`);
  });
}

/** `inbox dismiss ID [--say WHY]`. */
export async function inboxDismiss(command: Command): Promise<number> {
  const why = flag(command.parsed, "say") ?? "dismissed by its operator";
  const answer = await askKernel(command, "inboxDismiss", { id: entryId(command), why });
  return printEntry(command, InboxEntry.parse(answer), "dismissed");
}

const senderOf = (command: Command): Sender =>
  idOf(Sender, command.parsed.args[0] ?? "", "sender: peer:NAME, task:ID, agent:NAME");

/** `inbox mute SENDER`. */
export async function inboxMute(command: Command): Promise<number> {
  const sender = senderOf(command);
  await askKernel(command, "inboxMute", { sender, why: "muted by its operator" });
  return command.json
    ? printJson(command, { muted: sender })
    : printLines(command, [`${sender}  muted`]);
}

/** `inbox unmute SENDER`. */
export async function inboxUnmute(command: Command): Promise<number> {
  const sender = senderOf(command);
  await askKernel(command, "inboxUnmute", { sender });
  return command.json
    ? printJson(command, { unmuted: sender })
    : printLines(command, [`${sender}  heard again`]);
}

/** The inbox for an answer to a message. Throws `invalidInput` for a sender without an inbox. */
function boxOfSender({ id, message: { sender, senderTask } }: InboxEntry): Box {
  const task = TaskId.safeParse(senderTask);
  if (sender.startsWith("agent:") && task.success) return Box.parse(`task:${task.data}`);
  const box = Box.safeParse(sender);
  if (box.success && sender !== "host") return box.data;
  throw new Fault("invalidInput", `Cannot reply to message ${id}: "${sender}" has no inbox`);
}

/** `inbox reply ID TEXT`: answers a peer in its exchange, others by a message from the person. */
export async function inboxReply(
  command: Command<Basic | "keyboard" | "mcpStore" | "models">,
): Promise<number> {
  const [, text = ""] = command.parsed.args;
  return await withKernel(command, async (link) => {
    const entry = await showOf(link, entryId(command));
    if (entry.exchange !== undefined) {
      const exchange = await link.ask("peerReply", { exchange: entry.exchange, text });
      return command.json
        ? printJson(command, exchange)
        : printLines(command, [`${entry.id}  answered to ${entry.message.sender}`]);
    }
    const box = boxOfSender(entry);
    await readyFor(command, link, box);
    const { colour, label } = ingressOf(command);
    const message = {
      ...{ id: command.powers.environment.id("r"), sender: "host", kind: "status", body: text },
      ...{ causalParent: entry.message.id, artifactRefs: [] },
      ...{ requestedActions: [], requestedAuthority: [] },
    };
    const put = await link.ask("inboxPut", { message, stamp: { box, colour, label } });
    return printEntry(command, InboxEntry.parse(recordOf(put)["entry"]), `sent to ${box}`);
  });
}
