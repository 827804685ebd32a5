/** `mail list|show|adopt|dismiss`: the person's own inbox. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { InboxId, type Reference } from "../../contracts/exchange/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  commandText,
  idOf,
  printJson,
  printLines,
} from "../command.ts";
import { tableLines } from "../terminal/table.ts";
import { spanText } from "../terminal/span.ts";
import { edgesOf, entryOf, textOf } from "./letter.ts";

const WAITING: ReadonlySet<string> = new Set(["queued", "held", "quarantined"]);

/** `mail list`. */
export async function mailList(command: Command): Promise<number> {
  const answer = await askKernel(command, "inbox", { box: "host" });
  const entries = (Array.isArray(answer) ? answer.map(entryOf) : []).filter(({ state }) =>
    WAITING.has(state)
  );
  if (command.json) return printJson(command, entries);
  if (entries.length === 0) {
    return printLines(command, ["no mail for you"]);
  }
  const now = command.powers.environment.now();
  const rows = entries.map((entry) => [
    cell(entry.id),
    cell(entry.message.sender),
    cell(entry.colour),
    spanText(now - entry.receivedAt),
    cell(textOf(entry), 300),
  ]);
  const heads = ["MESSAGE", "FROM", "COLOUR", "AGE", "SAYS"];
  return printLines(command, tableLines(heads, rows, command.powers.screen.width));
}

/** `mail show`. */
export async function mailShow(command: Command): Promise<number> {
  const entry = entryOf(await askKernel(command, "inboxShow", { id: messageId(command) }));
  if (command.json) return printJson(command, entry);
  const { message, colour, label, state } = entry;
  return printLines(command, [
    `message   ${entry.id}  (${state})`,
    `from      ${displayText(message.sender)}${
      message.senderTask === undefined ? "" : `, task ${displayText(message.senderTask)}`
    }  (${colour}, ${label})`,
    ...displayBlock(textOf(entry), { prefix: "  │ ", columns: 100, max: 100_000 }),
    ...edgesOf(entry).map(({ name, reference }) =>
      `carries   ${displayText(name)}: ${wordsOf(command, reference)}`
    ),
  ]);
}

/** `mail adopt`: prints an attached value as extended JSON, or describes another attachment. */
export async function mailAdopt(command: Command): Promise<number> {
  const entry = entryOf(await askKernel(command, "inboxShow", { id: messageId(command) }));
  const [, edge = ""] = command.parsed.args;
  const found = edgesOf(entry).find(({ name }) => name === edge);
  if (found === undefined) {
    const names = edgesOf(entry).map(({ name }) => `"${name}"`).join(", ") || "nothing";
    throw new Fault("notFound", `Cannot adopt "${edge}": the message carries ${names}`);
  }
  return command.json
    ? printJson(command, found.reference)
    : printLines(command, [wordsOf(command, found.reference)]);
}

/** `mail dismiss`. */
export async function mailDismiss(command: Command): Promise<number> {
  const id = messageId(command);
  await askKernel(command, "inboxDismiss", { id, why: "put aside by the person" });
  return printLines(command, [`put aside: ${id}`]);
}

/** The id in a command's first argument. @throws Fault `invalidInput` */
export function messageId(command: Command): InboxId {
  return idOf(InboxId, command.parsed.args[0] ?? "", "message");
}

function wordsOf(command: Command, reference: Reference): string {
  switch (reference.kind) {
    case "value":
      return displayText(reference.json, { max: 100_000 });
    case "artifact":
      return `an artifact: ${commandText(command, `outbox show ${reference.artifact}`)}`;
    case "agent":
      return `the inbox ${reference.box}`;
    case "tool":
      return `the tool ${reference.tool}, as its sender holds it`;
    case "lease": {
      const { resource, right, path } = reference.scope;
      return `the right to ${right} ${resource} ${displayText(path)}, as its sender holds it`;
    }
  }
}
