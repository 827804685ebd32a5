/** `a2a send` and `a2a watch`: sends one message to a peer, or waits for its task; each is a task through the gate. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { peerTaskIn } from "../../contracts/exchange/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, givenFile } from "../command.ts";
import { calledAs } from "../mcp/command/call.ts";
import type { Seen } from "../audit/event_fields.ts";
import { flag, has } from "../arguments/parse_arguments.ts";
import { type CallShown, toolCall } from "../tool/call_command.ts";
import { type LockedPeer, peerNamed } from "./peer_work.ts";
import type { Basic } from "../powers.ts";

const MAX_MESSAGE = 65_536;
const MAX_FILE = 262_144;
/** Names without meaning to a shell; others are not shown as part of a command. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** `a2a send NAME[/SKILL] TEXT`. */
export async function a2aSend(
  command: Command<
    Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "readInput" | "wikis"
  >,
): Promise<number> {
  const { powers, parsed } = command;
  const [to = "", words = ""] = parsed.args;
  const [name = "", ...rest] = to.split("/");
  const peer = peerNamed(command, name);
  const tool = calledAs(peer, rest.length > 0 ? rest.join("/") : firstSkill(peer));
  const message = words === "-" ? (await powers.readInput()).trim() : words;
  if (message === "" || message.length > MAX_MESSAGE) {
    throw new Fault(
      "invalidInput",
      message === ""
        ? "Cannot send a message: it is empty"
        : `Cannot send a message: it is longer than ${MAX_MESSAGE} characters; send a --file`,
    );
  }
  const task = flag(parsed, "task");
  const files = (parsed.flags.get("file") ?? []).map((path) => fileOf(command, path));
  const args = {
    message,
    ...(task === undefined ? {} : { task }),
    ...(files.length === 0 ? {} : { files }),
    ...(has(parsed, "no-wait") ? { wait: false } : {}),
  };
  // With --task the peer's task is known, and the first progress may be the peer's words.
  return await called(command, tool, args, {
    words: (text) => forPerson(text, name),
    ...(task === undefined ? { onSeen: taskTeller(command, name) } : {}),
  });
}

/** Rewrites a call's result for a person: its first lines, written by Remit for a model, become hints for commands. */
function forPerson(text: string, peer: string): string {
  const [head = "", ...rest] = text.split("\n").map((line) =>
    /^\[Remit: (?:a message|\d+ messages) for you\. .*\]$/.test(line) ? "said meanwhile:" : line
  );
  const [, facts] = /^\[peer "[^"]*": (\{.*\})\]$/.exec(head) ?? [];
  if (facts === undefined) {
    return text.replace(/(; its task "[^"\n]*" may go on there): a2a_\S+_task.*$/s, "$1");
  }
  const { task = "", state = "" } = JSON.parse(facts) as {
    readonly task?: string;
    readonly state?: string;
  };
  const named = PLAIN.test(task) ? task : "TASK";
  const [next = "", ...words] = rest;
  // Remit wrote only the second line; later lines are the peer's.
  if (next.startsWith("[the task goes on at the peer; ")) {
    return [`it is "${state}" there, and goes on: remit a2a watch ${peer} ${named}`, ...words].join(
      "\n",
    );
  }
  if (next.startsWith("[the peer asks for more; ")) {
    return [`it asks for more: remit a2a send ${peer} --task ${named} TEXT`, ...words].join("\n");
  }
  const over = state === "completed" || state === "answered";
  return [...(over ? [] : [`it is "${state}" there`]), ...rest].join("\n");
}

/** Shows the id of the peer's task as soon as it is known: the task goes on there if this command is interrupted. */
function taskTeller({ powers }: Command, peer: string): (seen: Seen) => void {
  let first = true;
  return (seen) => {
    // Remit wrote only the first progress; later ones may be the peer's words.
    if (seen.kind !== "progress" || !first) return;
    first = false;
    const task = peerTaskIn(seen.text);
    if (task === undefined) return;
    powers.screen.say(
      PLAIN.test(task)
        ? `its task there: remit a2a watch ${peer} ${task}`
        : `its task there: ${displayText(task, { max: 128 })}`,
    );
  };
}

/** `a2a watch NAME TASK`. */
export async function a2aWatch(
  command: Command<
    Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "readInput" | "wikis"
  >,
): Promise<number> {
  const [name = "", task = ""] = command.parsed.args;
  const peer = peerNamed(command, name);
  return await called(command, calledAs(peer, "task"), { task, do: "wait" }, {
    words: (text) => forPerson(text, name),
  });
}

function called(
  command: Command<
    Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "readInput" | "wikis"
  >,
  tool: string,
  args: object,
  shown: CallShown,
): Promise<number> {
  const parsed = { ...command.parsed, args: [tool, JSON.stringify(args)] };
  return toolCall({ ...command, parsed }, shown);
}

/** The skill that carries a message: any approved one, as a message is for the whole agent. */
function firstSkill({ reviewed, name, state }: LockedPeer): string {
  const on = reviewed.find((each) => !each.off && each.suspended === undefined) ?? reviewed[0];
  if (on !== undefined) return on.tool.tool;
  throw new Fault(
    "refused",
    state === "revoked"
      ? `Cannot send to peer "${name}": it is revoked; "remit a2a approve ${name}" takes it back`
      : `Cannot send to peer "${name}": it is not approved; "remit a2a review ${name}" shows it`,
  );
}

function fileOf(
  command: Command,
  path: string,
): { readonly name: string; readonly text: string } {
  const shown = displayText(path, { max: 300 });
  const bytes = givenFile(command, path, "send");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Fault("invalidInput", `Cannot send "${shown}": it is no text`, { cause });
  }
  if (text.length > MAX_FILE) {
    throw new Fault("tooLarge", `Cannot send "${shown}": it is longer than ${MAX_FILE} characters`);
  }
  return { name: path.split("/").at(-1)?.slice(0, 256) || "file", text };
}
