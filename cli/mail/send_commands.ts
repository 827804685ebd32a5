/** `mail send|resolve|reject`: sends the person's messages to agents. @module */
import { TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json } from "../../contracts/base/mod.ts";
import {
  answerBox,
  type Box,
  Box as BoxSchema,
  type InboxEntry,
  type Mail,
  mailIn,
} from "../../contracts/exchange/mod.ts";
import { type Command, printJson, printLines, recordOf, rowsOf, withKernel } from "../command.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { attached, entryOf, messageOf, packageOf, referenceOf } from "./letter.ts";
import { messageId } from "./mail_commands.ts";

/** Puts a message from the person into an inbox; returns the kernel's answer. */
async function post(
  command: Command,
  link: Pick<KernelLink, "ask">,
  to: Box,
  mail: Mail,
): Promise<Json> {
  const message = messageOf(command.powers.environment.id("h"), "handoff", mail);
  return await link.ask("inboxPut", {
    message,
    stamp: { box: to, colour: "BLUE", label: "internal" },
  });
}

/** The inbox of a task, or of an agent: of its running task, if there is one. */
async function boxNamed(link: Pick<KernelLink, "ask">, name: string): Promise<Box> {
  if (TaskId.safeParse(name).success) return BoxSchema.parse(`task:${name}`);
  const running = rowsOf(await link.ask("ps", null)).findLast(({ spec, ppid }) =>
    spec === name && ppid === null
  );
  const box = BoxSchema.safeParse(
    running === undefined ? `agent:${name}` : `task:${running["task"]}`,
  );
  if (box.success) return box.data;
  throw new Fault("invalidInput", `Cannot send to "${name}": give an agent's name, or a task`);
}

async function sent(
  command: Command,
  make: (
    link: KernelLink,
  ) => Promise<{ readonly to: Box; readonly mail: Mail; readonly done?: InboxEntry }>,
): Promise<number> {
  return await withKernel(command, async (link) => {
    const { to, mail, done } = await make(link);
    const answer = await post(command, link, to, mail);
    if (done !== undefined && done.state === "queued") {
      await link.ask("inboxDismiss", { id: done.id, why: "answered by the person" });
    }
    const entry = recordOf(recordOf(answer)["entry"]);
    if (command.json) printJson(command, answer);
    else printLines(command, [`sent to ${to}: ${String(entry["id"])} (${String(entry["state"])})`]);
    if (to.startsWith("agent:") && entry["state"] === "queued") {
      command.powers.screen.say(`It waits for the next task of ${to.slice("agent:".length)}.`);
    }
    return EXIT.success;
  });
}

/** `mail send`. */
export async function mailSend(command: Command): Promise<number> {
  const [to = "", text = ""] = command.parsed.args;
  const edges = (command.parsed.flags.get("attach") ?? []).map(attached);
  return await sent(command, async (link) => ({
    to: await boxNamed(link, to),
    mail: packageOf(text, edges),
  }));
}

async function requested(
  command: Command,
  link: KernelLink,
): Promise<
  { readonly to: Box; readonly done: InboxEntry; readonly mail: Extract<Mail, { type: "request" }> }
> {
  const done = entryOf(await link.ask("inboxShow", { id: messageId(command) }));
  const mail = mailIn(done.message), to = answerBox(done.message);
  if (mail?.type === "request" && to !== undefined && done.box === "host") {
    return { to, done, mail };
  }
  throw new Fault("invalidInput", `Cannot answer message ${done.id}: it is no request to you`);
}

/** `mail resolve`. */
export async function mailResolve(command: Command): Promise<number> {
  const reference = referenceOf(command.parsed.args[1] ?? "");
  return await sent(command, async (link) => {
    const { to, done, mail: { responseName } } = await requested(command, link);
    const edges = [{ name: responseName, reference }];
    return { to, done, mail: { type: "resolution", request: done.message.id, edges } };
  });
}

/** `mail reject`. */
export async function mailReject(command: Command): Promise<number> {
  const [, why = ""] = command.parsed.args;
  return await sent(command, async (link) => {
    const { to, done } = await requested(command, link);
    return { to, done, mail: { type: "rejection", request: done.message.id, why } };
  });
}
