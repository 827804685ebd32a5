/** `a2a send` and `a2a watch`: one message to a peer, and waiting for its task, each a task through the gate. Issue 7. @module */
import { Fault, peerTaskIn } from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Command } from "../command.ts";
import { calledAs } from "../mcp/command/call.ts";
import type { Seen } from "../audit/event_fields.ts";
import { flag, has } from "../arguments/parse_arguments.ts";
import { toolCall } from "../tool/call_command.ts";
import { type LockedPeer, peerNamed } from "./peer_work.ts";

const MESSAGE = 65_536;
const FILE = 262_144;
/** Names that mean nothing to a shell: others are not written as part of a command. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** `a2a send NAME[/SKILL] TEXT`. */
export async function a2aSend(command: Command): Promise<number> {
  const { hands, parsed } = command;
  const [to = "", words = ""] = parsed.args;
  const [name = "", ...rest] = to.split("/");
  const peer = peerNamed(command, name);
  const tool = calledAs(peer, rest.length > 0 ? rest.join("/") : firstSkill(peer));
  const message = words === "-" ? (await hands.readInput()).trim() : words;
  if (message === "" || message.length > MESSAGE) {
    throw new Fault(
      "invalidInput",
      message === ""
        ? "Cannot send a message: it is empty"
        : `Cannot send a message: it is longer than ${MESSAGE} characters; send a --file`,
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
  // A task that was named is known: then the first progress may be the peer's words.
  return await called(
    command,
    tool,
    args,
    task === undefined ? taskTeller(command, name) : undefined,
  );
}

/** Says the name of the peer's task as soon as it is known: whatever ends this command, the task goes on there. */
function taskTeller({ hands }: Command, peer: string): (seen: Seen) => void {
  let first = true;
  return (seen) => {
    // Only the first progress is ours: what follows may be the peer's words.
    if (seen.kind !== "progress" || !first) return;
    first = false;
    const task = peerTaskIn(seen.text);
    if (task === undefined) return;
    hands.screen.say(
      PLAIN.test(task)
        ? `its task there: remit a2a watch ${peer} ${task}`
        : `its task there: ${displayText(task, { max: 128 })}`,
    );
  };
}

/** `a2a watch NAME TASK`. */
export async function a2aWatch(command: Command): Promise<number> {
  const [name = "", task = ""] = command.parsed.args;
  const peer = peerNamed(command, name);
  return await called(command, calledAs(peer, "task"), { task, do: "wait" });
}

function called(
  command: Command,
  tool: string,
  args: object,
  onSeen?: (seen: Seen) => void,
): Promise<number> {
  const parsed = { ...command.parsed, args: [tool, JSON.stringify(args)] };
  return toolCall({ ...command, parsed }, onSeen);
}

/** A message is to the whole agent: any approved skill carries it. */
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
  { hands }: Command,
  path: string,
): { readonly name: string; readonly text: string } {
  const shown = displayText(path, { max: 300 });
  const bytes = hands.disk.read(path);
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot send "${shown}": there is no such file`);
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Fault("invalidInput", `Cannot send "${shown}": it is no text`, { cause });
  }
  if (text.length > FILE) {
    throw new Fault("tooLarge", `Cannot send "${shown}": it is longer than ${FILE} characters`);
  }
  return { name: path.split("/").at(-1)?.slice(0, 256) || "file", text };
}
